// When rows are written, in which batches, and what becomes of them while the database is away.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import type { LastSeenRow } from '../../archive/port.ts'
import type { Archivist } from './archivist.ts'

const GATHER_MS = 5
const RETRY_MS = 1_000
const BATCH_ROWS = 1_000

let world: Pipeline
let archivist: Archivist
/** The rows of each write, as `user:version`. */
let writes: string[][]
/** Holds writes of last-seen rows. */
let gate: Gate
let isAway: boolean

beforeEach(async () => {
  ;[writes, gate, isAway] = [[], createGate(), false]
  world = await createPipeline({
    archive: (sqlite) => ({
      async writeLastSeen(rows) {
        writes.push(rows.map(({ userId, version }) => `${userId}:${version}`))
        await gate.pass()
        if (isAway) throw new Error('the database is gone')
        return sqlite.writeLastSeen(rows)
      },
      async writeSettings(rows) {
        if (isAway) throw new Error('the database is gone')
        await sqlite.writeSettings(rows)
      },
    }),
  })
  archivist = world.archivist
})

function row(userId: string, version = 1): LastSeenRow {
  const rest = { devices: [], shownCustomStatus: null, updatedAt: 1 }
  return { userId, lastSeenAt: 1, status: 'here', version, ...rest }
}

const go = () => world.clock.advance(0)

/** Whether the promise has resolved, looked at when needed. */
function watch(promise: Promise<unknown> | null): () => boolean {
  let isOver = false
  void promise?.then(() => {
    isOver = true
  })
  return () => isOver
}

describe('batches', () => {
  test('[S4] rows of arrivals gather for a moment and are one write, with the newest row of each user', async () => {
    for (const [at, userId] of ['ann', 'bob', 'cy', 'bob'].entries())
      void archivist.lastSeenSoon(row(userId, at))
    await world.clock.advance(GATHER_MS - 1)
    expect(writes).toEqual([])
    await world.clock.advance(1)
    expect(writes).toEqual([['ann:0', 'bob:3', 'cy:2']])
    void archivist.lastSeenSoon(row('di'))
    await world.clock.advance(GATHER_MS)
    expect(writes.slice(1)).toEqual([['di:1']])
  })

  test('[S4] a row that must be written before it is announced takes the gathered ones along at once', async () => {
    const arrived = watch(archivist.lastSeenSoon(row('ann')))
    const gone = watch(archivist.lastSeen(row('bob')))
    await go()
    expect(writes).toEqual([['ann:1', 'bob:1']])
    expect([arrived(), gone()]).toEqual([true, true])
  })

  test('[S4] rows that arrive during a write share the next one', async () => {
    gate.close()
    const first = watch(archivist.lastSeen(row('ann', 1)))
    const later = [row('bob'), row('ann', 2), row('cy')].map((one) => watch(archivist.lastSeen(one)))
    expect([writes, archivist.backlog()]).toEqual([[['ann:1']], 4])
    gate.release()
    await go()
    expect(writes.slice(1)).toEqual([['bob:1', 'ann:2', 'cy:1']])
    expect([first(), ...later.map((isOver) => isOver())]).toEqual([true, false, false, false])
    gate.open()
    await go()
    expect(later.map((isOver) => isOver())).toEqual([true, true, true])
    expect(archivist.backlog()).toBe(0)
  })

  test(`[S4] a write has at most ${BATCH_ROWS} rows`, async () => {
    for (let at = 0; at < 2.5 * BATCH_ROWS; at++) void archivist.lastSeenSoon(row(`user-${at}`))
    await world.done(archivist.flush())
    expect(writes.map((rows) => rows.length)).toEqual([1_000, 1_000, 500])
  })

  test('[S4] a row that arrives in the moment a write ends is written as well', async () => {
    // The moment is a few promises long, and it must not matter which of them it is.
    for (let promises = 0; promises < 12; promises++) {
      writes.length = 0
      await archivist.lastSeen(row('ann'))
      for (let waited = 0; waited < promises; waited++) await null
      await archivist.lastSeen(row('bob'))
      expect(writes).toEqual([['ann:1'], ['bob:1']])
    }
  })

  test('[S4] flush writes what gathers and resolves when all rows are written', async () => {
    gate.close()
    void archivist.lastSeenSoon(row('ann'))
    const flushed = watch(archivist.flush())
    await go()
    expect([writes, flushed()]).toEqual([[['ann:1']], false])
    gate.open()
    await go()
    expect([flushed(), archivist.backlog()]).toEqual([true, 0])
  })

  test('[S4] the pending row of a user is the newest one, until it is written', async () => {
    expect(archivist.lastSeenPending('ann')).toBeNull()
    gate.close()
    void archivist.lastSeen(row('ann', 1))
    const written = watch(archivist.lastSeenPending('ann'))
    void archivist.lastSeenSoon(row('ann', 2))
    const writtenAgain = watch(archivist.lastSeenPending('ann'))
    expect(archivist.lastSeenPending('bob')).toBeNull()
    gate.release()
    await go()
    expect([written(), writtenAgain()]).toEqual([true, false])
    gate.open()
    await go()
    expect([writtenAgain(), archivist.lastSeenPending('ann')]).toEqual([true, null])
  })
})

describe('while the database is away', () => {
  beforeEach(() => {
    isAway = true
  })

  test('[C7] no caller waits, and nothing is pending', async () => {
    gate.close()
    const first = watch(archivist.lastSeen(row('ann')))
    const second = watch(archivist.lastSeen(row('bob')))
    gate.release()
    await go()
    expect([first(), second()]).toEqual([true, true])
    const third = watch(archivist.lastSeen(row('cy')))
    const flushed = watch(archivist.flush())
    await go()
    expect([third(), flushed(), archivist.lastSeenPending('ann')]).toEqual([true, true, null])
  })

  test('[C7] the newest row of each user is kept and tried every second', async () => {
    gate.close()
    for (const one of [row('ann', 1), row('bob'), row('ann', 2)]) void archivist.lastSeen(one)
    expect(archivist.backlog()).toBe(3)
    gate.open()
    await go()
    expect(archivist.backlog()).toBe(2)
    void archivist.lastSeen(row('bob', 2))
    await world.clock.advance(RETRY_MS)
    expect(writes).toEqual([['ann:1'], ['bob:2', 'ann:2']])
    isAway = false
    await world.clock.advance(RETRY_MS)
    expect([writes[2], archivist.backlog()]).toEqual([['bob:2', 'ann:2'], 0])
    const users = await world.done(world.archive.read(['ann', 'bob']))
    expect(users.map(({ lastSeen }) => lastSeen?.version)).toEqual([2, 2])
  })

  test('[X6] the row of a user who is erased meanwhile is not written', async () => {
    for (const userId of ['ann', 'bob']) void archivist.lastSeen(row(userId))
    await go()
    archivist.forget('ann')
    isAway = false
    await world.clock.advance(RETRY_MS)
    const users = await world.done(world.archive.read(['ann', 'bob']))
    expect(users.map(({ lastSeen }) => lastSeen !== null)).toEqual([false, true])
  })

  test('[C7] it is logged once, and so is the return', async () => {
    void archivist.lastSeen(row('ann'))
    await world.clock.advance(10 * RETRY_MS)
    expect(world.lines).toHaveLength(1)
    isAway = false
    await world.clock.advance(RETRY_MS)
    void archivist.lastSeen(row('bob'))
    await go()
    expect(world.lines).toHaveLength(2)
  })

  test('[S4] a setting is refused and not kept, and the next one is tried at once', async () => {
    const settings = { availability: null, customStatus: null, awayAfter: null, privacy: null, history: null }
    const chosen = archivist.settings({ userId: 'ann', ...settings })
    expect(world.done(chosen)).rejects.toThrow('the archive cannot be written')
    await go()
    expect([archivist.isFailing(), archivist.backlog()]).toEqual([true, 0])
    isAway = false
    await world.done(archivist.settings({ userId: 'ann', ...settings }))
    expect(archivist.isFailing()).toBe(false)
  })

  test('[S4] a stop tries for as long as it may, and returns the users whose rows are lost', async () => {
    void archivist.lastSeen(row('ann'))
    await go()
    const finish = async () => {
      const lost = archivist.finish(3 * RETRY_MS)
      await world.clock.advance(4 * RETRY_MS)
      return lost
    }
    expect(await finish()).toEqual(['ann'])
    isAway = false
    expect(await finish()).toEqual([])
    expect((await world.done(world.archive.read(['ann'])))[0]?.lastSeen?.version).toBe(1)
  })
})
