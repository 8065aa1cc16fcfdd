// The consumer and the sweep of the history, on a real archive and a fake clock.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { StatusChangedRecord } from '@greendot/protocol'
import { aLastSeen, someSettings } from '../../../../testing/contracts/archive-rows.ts'
import { createPipeline, type Pipeline } from '../../../../testing/worlds/presence-pipeline.ts'
import type { HistoryArchive } from '../archive/port.ts'
import { createMemoryLog } from '../log/memory.ts'
import type { ChangeLog } from '../log/port.ts'
import { DAY_MS, HOUR_MS } from '../presence/core/history.ts'
import { createHistoryConsumer, HISTORY_GROUP } from './history.ts'
import { startHistorySweep } from './history-sweep.ts'

const DAYS = 7
const ALWAYS = { fromAt: 0, toAt: Number.MAX_SAFE_INTEGER, after: null, limit: 100 }
const LATER_MS = 5_000

let world: Pipeline
let log: ChangeLog
let isArchiveAway: boolean
/** Batches that the archive was given. */
let writes: number

beforeEach(async () => {
  isArchiveAway = false
  writes = 0
  world = await createPipeline({ archive: (sqlite) => ({ history: unreliable(sqlite.history) }) })
  log = createMemoryLog({ partitionCount: 4, clock: world.clock, logger: world.logger })
})
afterEach(() => world.done(log.close()))

const unreliable = (history: HistoryArchive): HistoryArchive => ({
  ...history,
  async write(changes, keptFromAt) {
    writes++
    if (isArchiveAway) throw new Error('the database is gone')
    await history.write(changes, keptFromAt)
  },
})

const parts = (historyDays = DAYS) => ({ ...world, archive: world.usedArchive, historyDays })
const consume = () => world.done(log.consume(HISTORY_GROUP, 'oldest', createHistoryConsumer(parts())))
const keep = (...userIds: string[]) =>
  world.done(
    world.archive.writeSettings(
      userIds.map((userId) =>
        someSettings(userId, { history: { isKept: true, setAt: world.clock.now() - 9 * DAY_MS } }),
      ),
    ),
  )
const kept = (userId: string) => world.done(world.archive.history.read(userId, ALWAYS))
const append = (...texts: string[]) => world.done(log.append(texts.map((text) => ({ userId: 'anna', text }))))

function aRecord(fields: Partial<Record<keyof StatusChangedRecord, unknown>> = {}): string {
  return JSON.stringify({
    type: 'status_changed',
    v: 1,
    user_id: 'anna',
    old_status: 'offline',
    new_status: 'online',
    version: 1,
    at: world.clock.now(),
    devices: ['web'],
    custom_status: null,
    history: true,
    ...fields,
  })
}

describe('the consumer', () => {
  test('[X6] writes what users allowed, and a record that comes again changes nothing', async () => {
    await keep('anna')
    const at = world.clock.now()
    const ends = aRecord({ old_status: 'online', new_status: 'offline', version: 2, at: at + 7, devices: [] })
    for (const text of [aRecord(), ends, aRecord(), ends]) await append(text)
    await consume()
    await world.clock.advance(LATER_MS)
    expect(await kept('anna')).toMatchObject([
      { status: 'online', devices: ['web'], fromAt: at, toAt: at + 7 },
    ])
    expect(await world.done(log.lag(HISTORY_GROUP))).toBe(0)
  })

  test.each([
    ['of a user who did not allow it', { history: undefined }],
    ['with a false permission', { history: false }],
    ['of another kind', { type: 'session_connected' }],
    ['of another version', { v: 2 }],
    ['of no user', { user_id: 'a b' }],
    ['with an unknown status', { new_status: 'invisible' }],
    ['with an unknown device', { devices: ['fridge'] }],
    ['with a text for a version', { version: '3' }],
    ['of the far future', { at: Date.UTC(2500, 0, 1) }],
    ['of before the first day that is kept', { at: 1 }],
  ])('[X6] passes over a record %s', async (_, fields) => {
    await keep('anna')
    await append(aRecord(fields), 'no "history" at all', '', '{"history":true}', 'null')
    await append(aRecord({ version: 5, new_status: 'busy' }))
    await consume()
    await world.clock.advance(LATER_MS)
    expect(await kept('anna')).toMatchObject([{ status: 'busy', version: 5 }])
    expect(await world.done(log.lag(HISTORY_GROUP))).toBe(0)
  })

  test('[X6] [C7] is handed the same records again when the archive was away', async () => {
    await keep('anna')
    isArchiveAway = true
    await append(aRecord())
    await consume()
    await world.clock.advance(LATER_MS)
    expect(writes).toBeGreaterThan(1)
    expect(await kept('anna')).toEqual([])
    isArchiveAway = false
    await world.clock.advance(LATER_MS * 10)
    expect(await kept('anna')).toMatchObject([{ status: 'online', version: 1 }])
  })
})

describe('the sweep', () => {
  const online = (userId: string, at: number, version = 1) =>
    ({ userId, version, at, status: 'online', devices: [] }) as const
  const offline = (userId: string, at: number, version = 2) =>
    ({ userId, version, at, status: 'offline', devices: [] }) as const

  test('[X6] deletes what is too old and what users refuse, at the start and every hour', async () => {
    const { archive, clock } = world
    await keep('anna', 'bob')
    const now = clock.now()
    const old = now - 8 * DAY_MS - HOUR_MS
    await world.done(
      archive.history.write([online('anna', old), offline('anna', old + 9), online('bob', now - HOUR_MS)], 0),
    )
    const sweep = startHistorySweep(parts())
    await clock.advance(1)
    expect(await kept('anna')).toEqual([])
    expect(await kept('bob')).toHaveLength(1)
    await world.done(archive.writeSettings([someSettings('bob', { history: { isKept: false, setAt: now } })]))
    await clock.advance(HOUR_MS)
    expect(await kept('bob')).toEqual([])
    await world.done(sweep.stop())
  })

  test('[X6] [C7] ends an interval whose departure was lost, when the user was last seen', async () => {
    const { archive, clock } = world
    await keep('anna')
    const now = clock.now()
    await world.done(archive.history.write([online('anna', now)], 0))
    await world.done(
      archive.writeLastSeen([aLastSeen('anna', { version: 2, lastSeenAt: now + 500, updatedAt: now + 900 })]),
    )
    const sweep = startHistorySweep(parts())
    await clock.advance(1)
    expect(await kept('anna')).toMatchObject([{ toAt: null }])
    await clock.advance(2 * HOUR_MS)
    expect(await kept('anna')).toMatchObject([{ fromAt: now, toAt: now + 500 }])
    await world.done(sweep.stop())
  })

  test('[X6] where history is off nothing is deleted early: it grows old by the days that were set last', async () => {
    const { archive, clock } = world
    await keep('anna', 'bob')
    const now = clock.now()
    await world.done(archive.history.write([online('anna', now), offline('anna', now + 9)], 0))
    const keeping = startHistorySweep(parts())
    await clock.advance(1)
    await world.done(keeping.stop())

    const sweep = startHistorySweep(parts(0))
    await clock.advance((DAYS - 1) * DAY_MS)
    expect(await kept('anna')).toHaveLength(1)
    expect(world.lines.filter((line) => line.includes('history_days is 0'))).toHaveLength(1)
    await clock.advance(2 * DAY_MS)
    expect(await kept('anna')).toEqual([])
    await world.done(sweep.stop())
  })

  test('[X6] where history is off, what users refuse is deleted all the same', async () => {
    const { archive, clock } = world
    await keep('anna', 'bob')
    const now = clock.now()
    await world.done(archive.history.write([online('anna', now), online('bob', now)], 0))
    await world.done(archive.history.keepDays(DAYS))
    await world.done(archive.writeSettings([someSettings('bob', { history: { isKept: false, setAt: now } })]))
    const sweep = startHistorySweep(parts(0))
    await clock.advance(1)
    expect([(await kept('anna')).length, (await kept('bob')).length]).toEqual([1, 0])
    await world.done(sweep.stop())
  })

  test('[X6] where history is off and there is none, nothing is said', async () => {
    const sweep = startHistorySweep(parts(0))
    await world.clock.advance(HOUR_MS)
    expect(world.lines).toEqual([])
    await world.done(sweep.stop())
  })

  test('[X6] [C7] that fails says so once and is tried again', async () => {
    const { history } = world.archive
    let isAway = true
    const trim = async (before: number) => {
      if (isAway) throw new Error('the database is gone')
      await history.trim(before)
    }
    await keep('anna')
    const old = world.clock.now() - 8 * DAY_MS - HOUR_MS
    await world.done(history.write([online('anna', old), offline('anna', old + 9)], 0))
    const sweep = startHistorySweep({
      ...parts(),
      archive: { ...world.archive, history: { ...history, trim } },
    })
    await world.clock.advance(1)
    expect(world.lines).toEqual(['the history could not be swept; it is tried again in an hour'])
    isAway = false
    await world.clock.advance(HOUR_MS)
    expect(await kept('anna')).toEqual([])
    await world.done(sweep.stop())
  })
})
