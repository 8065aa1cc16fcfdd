// The waiting room by itself. When a reading ends is decided here, because that is what the room is about;
// what was read says by its versions which reading it is from, and at which place.
import { beforeEach, describe, expect, test } from 'bun:test'
import { emptyRecord } from '../core/record.ts'
import type { Recall, Recalled } from '../reading/recall.ts'
import { createWaitingRoom, type WaitingRoom } from './archive-read-queue.ts'
import { createWork, type Work } from './work.ts'

const WORKS_PER_PERSON_MAX = 8
const READINGS_MAX = 16

let room: WaitingRoom
/** Whom the archive was asked about, question by question. */
let asked: string[][]
let answers: (() => void)[]
let works: number
let onReady: () => void

beforeEach(() => {
  asked = []
  answers = []
  works = 0
  onReady = () => {}
  const recall: Recall = {
    orAfresh(userIds) {
      const { promise, resolve } = Promise.withResolvers<Recalled[]>()
      const reading = asked.push([...userIds]) - 1
      answers.push(() => resolve(userIds.map((_, place) => readBy(reading, place))))
      return promise
    },
    orFail: () => Promise.reject(new Error('the room turns nobody down')),
  }
  room = createWaitingRoom(recall, () => onReady())
})

function readBy(reading: number, place: number): Recalled {
  const record = emptyRecord(place)
  return { record, isKnown: true, isAfresh: false, wasHere: false, archivedVersion: reading }
}

/** One work for each, of a session with the name that tells it from others. */
function admit(name: string, ...userIds: string[]): Work[] {
  const admitted = userIds.map((userId): [string, Work] => {
    const work = createWork(++works)
    work.events.push({ type: 'left', sessionId: name, at: works })
    return [userId, work]
  })
  room.admit(new Map(admitted))
  return admitted.map(([, work]) => work)
}

/** Lets a reading end, and waits until the room says that it has. */
async function end(reading: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  onReady = resolve
  answers[reading]!()
  await promise
}

const names = ({ events }: Work) => events.map((event) => ('sessionId' in event ? event.sessionId : ''))
const take = () => [...(room.take() ?? [])].map(([userId, work]) => [userId, ...names(work)])

describe('the works of one person', () => {
  test('[P2] leave in the order they came, whichever was read first', async () => {
    admit('first', 'bob')
    admit('second', 'bob')
    await end(1)
    expect(take()).toEqual([])
    await end(0)
    expect([take(), take(), take()]).toEqual([[['bob', 'first']], [['bob', 'second']], []])
    expect(room.isWaiting('bob')).toBe(false)
  })

  test('[S6] have a reading each, begun when it came, and are ready no sooner', async () => {
    const [first] = admit('first', 'bob')
    const [second] = admit('second', 'bob')
    expect(asked).toEqual([['bob'], ['bob']])
    await end(0)
    expect([take(), take()]).toEqual([[['bob', 'first']], []])
    expect(room.isWaiting('bob')).toBe(true)
    await end(1)
    expect(take()).toEqual([['bob', 'second']])
    expect([first, second].map((work) => work!.recalled?.archivedVersion)).toEqual([0, 1])
  })

  test('[P2] are here until they are taken, read or not', async () => {
    admit('first', 'bob')
    await end(0)
    expect(room.isWaiting('bob')).toBe(true)
    take()
    expect(room.isWaiting('bob')).toBe(false)
  })

  test('[P2] are taken one at a time, also when all were read', async () => {
    admit('first', 'ann', 'bob')
    admit('second', 'ann', 'bob')
    await end(0)
    await end(1)
    for (const name of ['first', 'second']) {
      expect(take()).toEqual([
        ['ann', name],
        ['bob', name],
      ])
    }
  })

  test('[C7] are so many at most; what comes after joins the last', async () => {
    const all = Array.from({ length: WORKS_PER_PERSON_MAX + 5 }, (_, at) => admit(`${at}`, 'bob')[0]!)
    expect(asked).toHaveLength(WORKS_PER_PERSON_MAX)
    for (const reading of asked.keys()) await end(reading)
    const taken = Array.from({ length: WORKS_PER_PERSON_MAX }, take)
    expect(taken.flatMap(([work]) => work!.slice(1))).toEqual([...all.keys()].map(String))
    expect(taken.at(-1)).toEqual([['bob', '7', '8', '9', '10', '11', '12']])
    expect(room.size()).toBe(0)
  })

  test('[W9] learn what became of the person while they were here, and the others do not', () => {
    const mine = [...admit('first', 'bob'), ...admit('second', 'bob')]
    const [other] = admit('first', 'ann')
    const [older, newer] = [emptyRecord(5), emptyRecord(6)]
    for (const record of [older, newer]) room.outdate('bob', record)
    room.outdate('nobody', older)
    expect(mine.map(({ since }) => since)).toEqual([newer, newer])
    expect(other!.since).toBeNull()
  })
})

describe('the others', () => {
  test('[R2] get what was read of them', async () => {
    const both = admit('first', 'ann', 'bob')
    await end(0)
    expect(both.map(({ recalled }) => recalled?.record.version)).toEqual([0, 1])
  })

  test('[S6] do not wait for whoever came before', async () => {
    admit('first', 'bob')
    admit('second', 'ann', 'bob')
    admit('third', 'carol')
    await end(2)
    expect(take()).toEqual([['carol', 'third']])
    await end(1)
    expect(take()).toEqual([['ann', 'second']])
    await end(0)
    expect([take(), take()]).toEqual([[['bob', 'first']], [['bob', 'second']]])
  })

  test('[C7] are read a thousand at a time when many have gathered', async () => {
    for (let at = 0; at < READINGS_MAX; at++) admit('first', `user-${at}`)
    admit('crowd', ...Array.from({ length: 1_500 }, (_, at) => `one-of-many-${at}`))
    await end(0)
    await end(1)
    expect(asked.slice(READINGS_MAX).map((userIds) => userIds.length)).toEqual([1_000, 500])
  })

  test('[C7] gather for the next reading when the archive is asked too much at once', async () => {
    for (let at = 0; at < READINGS_MAX; at++) admit('first', `user-${at}`)
    admit('second', 'ann', 'user-0')
    admit('third', 'ann', 'bob')
    expect(asked).toHaveLength(READINGS_MAX)
    await end(0)
    expect(asked.slice(READINGS_MAX)).toEqual([['ann', 'user-0', 'bob']])
    // It took the place of the one that ended.
    admit('fourth', 'carol')
    expect(asked).toHaveLength(READINGS_MAX + 1)
    expect(take()).toEqual([['user-0', 'first']])
    await end(READINGS_MAX)
    expect(take()).toEqual([
      ['ann', 'second', 'third'],
      ['user-0', 'second'],
      ['bob', 'third'],
    ])
    expect(asked.at(-1)).toEqual(['carol'])
  })

  test('[C7] are read at once again when that is over', async () => {
    for (let at = 0; at < READINGS_MAX; at++) admit('first', `user-${at}`)
    await end(0)
    admit('second', 'ann')
    expect(asked.at(-1)).toEqual(['ann'])
  })
})

test('[D3] the oldest work and the number of people are of those who have not left', async () => {
  expect([room.size(), room.oldest()]).toEqual([0, Number.POSITIVE_INFINITY])
  admit('first', 'ann', 'bob')
  admit('second', 'ann')
  expect([room.size(), room.oldest()]).toEqual([2, 1])
  await end(0)
  expect(room.oldest()).toBe(1)
  take()
  expect([room.size(), room.oldest()]).toEqual([1, 3])
})

test('[C7] nobody is read for nothing', () => {
  room.admit(new Map())
  expect(asked).toEqual([])
})
