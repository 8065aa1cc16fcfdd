// The queue of users that wait for the archive. The test decides when a look-up ends; the version of each
// record names the look-up and the place in it.
import { beforeEach, describe, expect, test } from 'bun:test'
import { emptyRecord } from '../core/record.ts'
import type { ArchivedRecord, ArchiveLookup } from '../reading/archive-lookup.ts'
import { type ArchiveReadQueue, createArchiveReadQueue } from './archive-read-queue.ts'
import { createWork, type Work } from './work.ts'

const QUERIES_MAX = 16
const USERS_PER_QUERY_MAX = 1_000

let queue: ArchiveReadQueue
/** Users of each query so far. */
let queries: string[][]
let answers: (() => void)[]
let onReady: () => void

beforeEach(() => {
  ;[queries, answers, onReady] = [[], [], () => {}]
  const lookup: ArchiveLookup = {
    loadOrUnknown(userIds) {
      const { promise, resolve } = Promise.withResolvers<ArchivedRecord[]>()
      const query = queries.push([...userIds]) - 1
      answers.push(() => resolve(userIds.map((_, place) => found(query, place))))
      return promise
    },
    loadOrFail: () => Promise.reject(new Error('not used here')),
  }
  queue = createArchiveReadQueue(lookup, () => onReady())
})

function found(query: number, place: number): ArchivedRecord {
  const record = emptyRecord(place)
  const user = { lastSeen: null, settings: null }
  return { user, record, isKnown: true, isUnread: false, wasHere: false, archivedVersion: query }
}

/** Adds one piece of work for each user, with one event of the given session. */
function add(sessionId: string, ...userIds: string[]): Work[] {
  const works = userIds.map((userId): [string, Work] => {
    const work = createWork()
    work.events.push({ type: 'left', sessionId, at: 1 })
    return [userId, work]
  })
  queue.add(new Map(works))
  return works.map(([, work]) => work)
}

/** Ends a query, and waits until the queue has said that users are ready. */
async function end(query: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  onReady = resolve
  answers[query]!()
  await promise
}

/** The users that are ready, all of them unless there is a limit, with the sessions of their events. */
const take = (usersMax = Number.POSITIVE_INFINITY) =>
  [...(queue.take(usersMax) ?? [])].map(([userId, { events }]) => [
    userId,
    ...events.map((event) => ('sessionId' in event ? event.sessionId : '')),
  ])

describe('a user that is looked up', () => {
  test('[P2] takes later events along, in their order, with one look-up', async () => {
    add('first', 'bob')
    add('second', 'bob')
    expect(queries).toEqual([['bob']])
    await end(0)
    // Events that come before the user is taken queue behind the others too.
    add('third', 'bob')
    expect(take()).toEqual([['bob', 'first', 'second', 'third']])
    expect([queue.has('bob'), queue.size(), queue.take(1)]).toEqual([false, 0, null])
  })

  test('[P2] is in the queue until it is taken, looked up or not', async () => {
    add('first', 'ann', 'bob')
    expect([queue.has('bob'), queue.size(), queue.take(1)]).toEqual([true, 2, null])
    await end(0)
    expect([queue.has('bob'), queue.size()]).toEqual([true, 2])
    take()
    expect([queue.has('bob'), queue.size()]).toEqual([false, 0])
  })

  test('[R2] gets its own record', async () => {
    const works = add('first', 'ann', 'bob')
    await end(0)
    expect(works.map(({ archived }) => archived?.record.version)).toEqual([0, 1])
  })

  test('[R2] is looked up again when it comes again', async () => {
    add('first', 'bob')
    await end(0)
    take()
    const [later] = add('second', 'bob')
    expect(queries).toEqual([['bob'], ['bob']])
    await end(1)
    expect(take()).toEqual([['bob', 'second']])
    expect(later!.archived?.archivedVersion).toBe(1)
  })
})

test('[C7] users are taken in the order in which they became ready, no more than wanted', async () => {
  add('first', 'ann', 'bob', 'carol')
  await end(0)
  expect(take(2)).toEqual([
    ['ann', 'first'],
    ['bob', 'first'],
  ])
  expect([queue.has('bob'), queue.has('carol'), queue.size()]).toEqual([false, true, 1])
  expect([take(2), take(2)]).toEqual([[['carol', 'first']], []])
})

describe('other users', () => {
  test('[C7] are ready as soon as their own look-up ends', async () => {
    add('first', 'bob')
    add('second', 'ann', 'bob')
    expect(queries).toEqual([['bob'], ['ann']])
    await end(1)
    expect(take()).toEqual([['ann', 'second']])
    await end(0)
    expect(take()).toEqual([['bob', 'first', 'second']])
  })

  test(`[C7] share the next query while ${QUERIES_MAX} are under way`, async () => {
    for (let at = 0; at < QUERIES_MAX; at++) add('first', `user-${at}`)
    add('second', 'ann', 'user-0')
    add('third', 'ann', 'bob')
    expect(queries).toHaveLength(QUERIES_MAX)
    await end(0)
    expect(queries.slice(QUERIES_MAX)).toEqual([['ann', 'bob']])
    // That query took the free place.
    add('fourth', 'carol')
    expect(queries).toHaveLength(QUERIES_MAX + 1)
    expect(take()).toEqual([['user-0', 'first', 'second']])
    await end(QUERIES_MAX)
    expect(take()).toEqual([
      ['ann', 'second', 'third'],
      ['bob', 'third'],
    ])
    expect(queries.at(-1)).toEqual(['carol'])
  })

  test(`[C7] are looked up ${USERS_PER_QUERY_MAX} at a time`, () => {
    add('first', ...Array.from({ length: 1_500 }, (_, at) => `user-${at}`))
    expect(queries.map((userIds) => userIds.length)).toEqual([1_000, 500])
  })
})

test('[C7] no users, no query', () => {
  queue.add(new Map())
  expect(queries).toEqual([])
})
