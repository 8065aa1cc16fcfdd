// The watch list with ids and the contact list, against a model of the server that edits the list and answers
// at any time. In the end the server watches exactly the wanted ids and contacts.
import { expect, test } from 'bun:test'
import type { ClientFrame } from '@greendot/protocol'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import type { Answer } from '../types.ts'
import { CONTACTS, createWatchlist } from './watchlist.ts'

function createWorld() {
  const clock = createFakeClock(1_000_000)
  const queue: { frame: ClientFrame; onAnswer(answer: Answer): void }[] = []
  const watchedIds = new Set<string>()
  const followed = new Set<string>()
  let list: string[] = []
  let isFollowing = false
  const watchlist = createWatchlist({
    runtime: runtimeOf(clock),
    versionOf: () => undefined,
    ask: (frame, onAnswer) => void queue.push({ frame, onAnswer }),
    onConfirmed() {},
    onDropped() {},
    onError(failure) {
      throw new Error(failure.message)
    },
  })

  function report(watched: Set<string>, id: string): void {
    watched.add(id)
    watchlist.noteSnapshot(id)
  }

  function sendList(): void {
    const gone = [...followed].filter((id) => !list.includes(id))
    for (const id of gone) followed.delete(id)
    if (gone.length > 0) watchlist.unlist(gone)
    for (const id of list) if (!followed.has(id)) report(followed, id)
  }

  function handle(frame: ClientFrame): void {
    if (frame.type === 'watch') for (const id of frame.user_ids) report(watchedIds, id)
    if (frame.type === 'unwatch')
      for (const watched of [watchedIds, followed]) for (const id of frame.user_ids) watched.delete(id)
    if (frame.type !== 'watch_contacts') return
    isFollowing = true
    sendList()
  }

  return {
    clock,
    watchlist,
    list: () => list,
    reported: () => new Set([...watchedIds, ...followed]),
    answerOne() {
      const next = queue.shift()
      if (!next) return false
      handle(next.frame)
      next.onAnswer({ ok: true })
      return true
    },
    edit(ids: string[]) {
      list = ids
      if (isFollowing) sendList()
    },
    reconnect() {
      queue.length = 0
      watchedIds.clear()
      followed.clear()
      isFollowing = false
      watchlist.reset(false)
      watchlist.reset(true)
    },
  }
}

const ids = ['a', 'b', 'c', 'd']
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('want' as const, 'unwant' as const),
      id: fc.constantFrom(...ids, CONTACTS, CONTACTS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('answer' as const, 'wait' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), list: fc.subarray(ids) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconnect' as const) }) },
)

test('[W1] an id unwatched while the contact list is requested is watched through the list again', async () => {
  const { clock, watchlist, reported, edit, answerOne } = createWorld()
  watchlist.reset(true)
  watchlist.want('b')
  watchlist.want(CONTACTS)
  edit(['b'])
  await clock.advance(60)
  watchlist.unwant('b')
  do await clock.advance(60)
  while (answerOne())
  expect([...reported()]).toEqual(['b'])
  expect([...watchlist.listed()]).toEqual(['b'])
})

test('[W1] after any changes, edits, answers and reconnects the server watches exactly what is wanted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = createWorld()
      const { clock, watchlist } = world
      const wanted = new Set<string>()
      watchlist.reset(true)
      for (const one of steps) {
        if (one.do === 'want') {
          wanted.add(one.id)
          watchlist.want(one.id)
        } else if (one.do === 'unwant') {
          wanted.delete(one.id)
          watchlist.unwant(one.id)
        } else if (one.do === 'answer') world.answerOne()
        else if (one.do === 'edit') world.edit(one.list)
        else if (one.do === 'reconnect') world.reconnect()
        else await clock.advance(60)
      }
      do await clock.advance(60)
      while (world.answerOne())
      const isListWanted = wanted.delete(CONTACTS)
      const reported = world.reported()
      const listed = new Set(watchlist.listed())
      expect([...wanted].filter((id) => !reported.has(id))).toEqual([])
      if (isListWanted) {
        expect(world.list().filter((id) => !reported.has(id))).toEqual([])
        expect([...listed].sort()).toEqual([...world.list()].sort())
      }
      const isWanted = (id: string) => wanted.has(id) || (isListWanted && listed.has(id))
      expect([...reported].filter((id) => !isWanted(id))).toEqual([])
    }),
    { numRuns: 500 },
  )
})
