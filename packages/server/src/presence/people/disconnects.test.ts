// Disconnects on a real archive and bus with a fake clock: in the archive first, then in every process, also in one that
// missed the message and in one that started later.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../../testing/worlds/fake-clock.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import type { Bus, Disconnect } from '../../bus/port.ts'
import { createLogger } from '../../platform/logger.ts'
import type { PresenceEvent } from '../core/event.ts'
import type { Tracker } from '../pipeline/tracker.ts'
import { Unavailable } from '../unavailable.ts'
import { type Disconnects, startDisconnects } from './disconnects.ts'

const T = 1_800_000_000_000
const HOUR_MS = 3_600_000

let clock: FakeClock
let archive: Archive
let bus: Bus
let isArchiveAway: boolean
let applied: [string, PresenceEvent][]
let started: Disconnects[]

beforeEach(async () => {
  clock = createFakeClock(T)
  const whole = await createSqliteArchive({ path: ':memory:' })
  await whole.migrate()
  ;[isArchiveAway, applied, started] = [false, [], []]
  archive = {
    ...whole,
    disconnects: {
      ...whole.disconnects,
      write: (row) => (isArchiveAway ? Promise.reject(new Error('away')) : whole.disconnects.write(row)),
    },
  }
  bus = createMemoryBus()
})
afterEach(async () => {
  for (const one of started) one.stop()
  await archive.close()
})

const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

async function start({ isDeaf = false } = {}) {
  const tracker = {
    async apply(userId: string, event: PresenceEvent) {
      applied.push([userId, event])
    },
  } as unknown as Tracker
  const ownBus: Bus = isDeaf ? { ...bus, subscribe: async () => () => {} } : bus
  const logger = createLogger({ level: 'silent' })
  const parts = { archive, bus: ownBus, tracker, clock, tokenClock: clock, logger, isAlone: false }
  const disconnects = await done(startDisconnects(parts))
  started.push(disconnects)
  const heard: [string, Disconnect][] = []
  disconnects.listen((userId, disconnect) => heard.push([userId, disconnect]))
  return { ...disconnects, heard }
}

const REQUEST = { deviceId: null, reason: 'signed out', until: null }

test('[C6] with until, every process refuses tokens issued before, and no others', async () => {
  const [here, there] = [await start(), await start()]
  expect(await done(here.disconnect('ada', { ...REQUEST, until: T + HOUR_MS }))).toBeNull()
  await clock.advance(0)
  for (const { isRefused } of [here, there]) {
    expect([isRefused('ada', T - 1), isRefused('ada', null), isRefused('ada', T)]).toEqual([
      true,
      true,
      false,
    ])
    expect(isRefused('bob', null)).toBe(false)
  }
  await clock.advance(HOUR_MS)
  expect([here.isRefused('ada', T - 1), there.isRefused('ada', null)]).toEqual([false, false])
})

test('[C6] without until, no token is refused, and the sessions end all the same', async () => {
  const [here, there] = [await start(), await start()]
  await done(here.disconnect('ada', REQUEST))
  await done(here.disconnect('ada', { ...REQUEST, deviceId: 'phone' }))
  await clock.advance(0)
  expect(here.isRefused('ada', null)).toBe(false)
  expect(applied.map(([, { type }]) => type)).toEqual(['user_left', 'device_left'])
  const meant = there.heard.map(([userId, { deviceId, reason }]) => [userId, deviceId, reason])
  expect(meant).toEqual([
    ['ada', null, 'signed out'],
    ['ada', 'phone', 'signed out'],
  ])
})

test('[C6, C7] a process that missed the message finds it in the archive', async () => {
  const [here, deaf] = [await start(), await start({ isDeaf: true })]
  await done(here.disconnect('ada', { ...REQUEST, until: T + HOUR_MS }))
  expect(deaf.isRefused('ada', null)).toBe(false)
  await clock.advance(5_000)
  expect(deaf.isRefused('ada', null)).toBe(true)
  expect(deaf.heard[0]).toMatchObject(['ada', { deviceId: null, at: T }])
})

test('[C6, C7] a process that starts later refuses them from the beginning', async () => {
  const first = await start()
  for (let n = 0; n < 1_500; n++)
    await done(first.disconnect(`user-${n}`, { ...REQUEST, until: T + HOUR_MS }))
  const second = await start({ isDeaf: true })
  const refused = Array.from({ length: 1_500 }, (_, n) => second.isRefused(`user-${n}`, T - 1))
  expect(refused.every(Boolean)).toBe(true)
})

test('[C6] one without until does not refuse newer tokens, wherever it is heard of', async () => {
  const [here, deaf] = [await start(), await start({ isDeaf: true })]
  await done(here.disconnect('ada', { ...REQUEST, until: T + HOUR_MS }))
  await clock.advance(2_000)
  await done(here.disconnect('ada', REQUEST))
  await clock.advance(5_000)
  const later = await start()
  for (const { isRefused } of [here, deaf, later])
    expect([isRefused('ada', T - 1), isRefused('ada', T)]).toEqual([true, false])
  const meant = deaf.heard.map(([, { at, until }]) => [at >= T + 2_000, until !== null])
  expect(meant).toContainEqual([true, false])
  expect(meant).not.toContainEqual([true, true])
})

test('[C6] a regular look reads only what is new', async () => {
  const here = await start()
  const listened = await start({ isDeaf: true })
  await done(here.disconnect('ada', { ...REQUEST, until: T + 2 * HOUR_MS }))
  await clock.advance(HOUR_MS)
  const heard = listened.heard.length
  expect(heard).toBeGreaterThan(0)
  await clock.advance(60_000)
  expect(listened.heard).toHaveLength(heard)
  expect(listened.isRefused('ada', T - 1)).toBe(true)
})

test('[C6] where it cannot be written the caller is told, and nothing has changed', async () => {
  const here = await start()
  isArchiveAway = true
  await expect(done(here.disconnect('ada', { ...REQUEST, until: T + HOUR_MS }))).rejects.toThrow(Unavailable)
  await clock.advance(0)
  expect([here.isRefused('ada', null), applied, here.heard]).toEqual([false, [], []])
})

test('[C6] an instant in the past is refused', async () => {
  const here = await start()
  expect(await done(here.disconnect('ada', { ...REQUEST, until: T }))).toMatchObject({
    code: 'invalid_expiry',
  })
  expect(applied).toEqual([])
})
