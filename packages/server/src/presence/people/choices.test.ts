// An acknowledged choice is in the archive; a refused one has changed nothing. On the real tracker, store and
// archive; the test decides when the archive writes.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { connected, say } from '../../../../../testing/worlds/presence-user.ts'
import type { ChoiceEvent } from '../core/event.ts'
import { Unavailable } from '../unavailable.ts'

let world: Pipeline
/** Holds writes of settings. */
let gate: Gate
let isArchiveAway: boolean
let isStoreAway: boolean

beforeEach(async () => {
  ;[gate, isArchiveAway, isStoreAway] = [createGate(), false, false]
  world = await createPipeline({
    isStoreVolatile: false,
    store: (memory) => ({
      async load(userIds) {
        if (isStoreAway) throw new Error('the store is gone')
        return memory.load(userIds)
      },
    }),
    archive: (sqlite) => ({
      async writeSettings(rows) {
        await gate.pass()
        if (isArchiveAway) throw new Error('the disk is full')
        await sqlite.writeSettings(rows)
      },
    }),
  })
  await world.watch('bob')
  await world.done(world.tracker.apply('bob', connected('web#1', now())))
})

const now = () => world.clock.now()
const hide = (): ChoiceEvent => ({ type: 'set_privacy', at: now(), change: { statusVisibility: 'nobody' } })
const deny = (userId: string): ChoiceEvent => ({ type: 'set_privacy', at: now(), change: { deny: [userId] } })
const settingsOf = async (userId: string) => (await world.done(world.archive.read([userId])))[0]!.settings
const choose = (...events: ChoiceEvent[]) => world.choices.apply('bob', ...events)

describe('a choice', () => {
  test('[C7] that the store lost in the moment before an outage is read back after it', async () => {
    const before = (await world.store.load(['bob']))[0]!
    await world.done(choose(hide()))
    const { revision } = (await world.store.load(['bob']))[0]!
    const older = { record: before.record, expectedRevision: revision, dueAt: null, retainUntil: null }
    await world.store.commit([{ userId: 'bob', ...older }])
    world.choices.readBack()
    await world.clock.advance(100)
    expect((await world.stored('bob'))!.privacy?.statusVisibility).toBe('nobody')
  })

  test('[S4] takes effect and is answered after its row is written', async () => {
    gate.close()
    let isAnswered = false
    const chosen = choose(hide()).then(() => {
      isAnswered = true
    })
    await world.clock.advance(100)
    expect([isAnswered, (await world.stored('bob'))!.privacy]).toEqual([false, null])
    gate.open()
    await world.done(chosen)
    expect((await settingsOf('bob'))?.privacy?.statusVisibility).toBe('nobody')
    expect((await world.stored('bob'))!.privacy?.statusVisibility).toBe('nobody')
  })

  test('[S3, S5] of a user who is not in the hot store is a change all the same', async () => {
    await world.watch('carol')
    await world.done(world.choices.apply('carol', say('lunch', now()) as ChoiceEvent))
    expect(world.changes().slice(-1)).toMatchObject([{ user_id: 'carol', custom_status: { text: 'lunch' } }])
    await world.done(world.choices.apply('dave', hide()))
    expect((await world.stored('dave'))?.privacy?.statusVisibility).toBe('nobody')
  })

  test('[S4, S5] wins over an earlier one that was refused and reached the archive late, though it changes nothing', async () => {
    await world.done(choose(hide()))
    await world.clock.advance(1_000)
    const { privacy, ...settings } = (await settingsOf('bob'))!
    const refused = { ...privacy!, statusVisibility: 'everyone', setAt: now() } as const
    await world.done(world.archive.writeSettings([{ ...settings, privacy: refused }]))
    await world.clock.advance(1_000)
    await world.done(choose(hide()))
    expect((await settingsOf('bob'))?.privacy?.statusVisibility).toBe('nobody')
    expect((await world.stored('bob'))!.privacy?.statusVisibility).toBe('nobody')
  })

  test('[S4, C7] that follows an acknowledged one counts, though the clock of its process is behind', async () => {
    const later: ChoiceEvent[] = [
      { type: 'set_availability', at: now() + 20, status: 'busy', expiresAt: null },
      say('first', now() + 20) as ChoiceEvent,
      { type: 'set_away_after', at: now() + 20, awayAfterMs: 60_000 },
    ]
    const earlier: ChoiceEvent[] = [
      { type: 'set_availability', at: now(), status: 'away', expiresAt: null },
      say('second', now()) as ChoiceEvent,
      { type: 'set_away_after', at: now(), awayAfterMs: 90_000 },
    ]
    await world.done(choose(...later))
    await world.done(choose(...earlier))
    const second = {
      availability: { status: 'away' },
      customStatus: { text: 'second' },
      awayAfter: { awayAfterMs: 90_000 },
    }
    expect(await world.stored('bob')).toMatchObject(second)
    expect(await settingsOf('bob')).toMatchObject(second)
  })

  test('[S4] that cannot be written is refused, and changes nothing', async () => {
    isArchiveAway = true
    const heard = world.heard.length
    for (const event of [hide(), say('lunch', now()) as ChoiceEvent])
      expect(world.done(choose(event))).rejects.toBeInstanceOf(Unavailable)
    await world.clock.advance(5_000)
    expect(await world.stored('bob')).toMatchObject({ privacy: null, customStatus: null })
    expect([world.heard.length, await settingsOf('bob')]).toEqual([heard, null])
    isArchiveAway = false
    await world.done(choose(hide()))
    expect((await settingsOf('bob'))?.privacy?.statusVisibility).toBe('nobody')
  })

  test('[S4] is refused before anything is written when the store does not answer', async () => {
    isStoreAway = true
    expect(world.done(choose(hide()))).rejects.toBeInstanceOf(Unavailable)
    await world.clock.advance(0)
    expect(await settingsOf('bob')).toBeNull()
  })
})

describe('several choices of one user', () => {
  test('[S5] in this process are made one after another', async () => {
    await world.done(
      Promise.all([choose(hide()), choose(deny('mallory')), choose(say('lunch', now()) as ChoiceEvent)]),
    )
    const row = await settingsOf('bob')
    expect(row?.privacy).toMatchObject({ statusVisibility: 'nobody', deny: ['mallory'] })
    expect(row?.customStatus?.text).toBe('lunch')
  })

  test('[S5] in two processes are both in the archive when both are answered', async () => {
    gate.close()
    const here = choose(hide())
    await world.clock.advance(0)
    // Another process committed its choice while ours was written.
    await world.done(world.tracker.apply('bob', deny('mallory')))
    gate.open()
    await world.done(here)
    expect((await settingsOf('bob'))?.privacy).toMatchObject({
      statusVisibility: 'nobody',
      deny: ['mallory'],
    })
  })

  test('[S4] go on after one that was refused', async () => {
    isArchiveAway = true
    const refused = choose(hide()).catch((error: unknown) => {
      isArchiveAway = false
      return error
    })
    const later = choose(deny('mallory'))
    await world.done(later)
    expect(await refused).toBeInstanceOf(Unavailable)
    expect((await settingsOf('bob'))?.privacy).toMatchObject({ statusVisibility: null, deny: ['mallory'] })
  })
})
