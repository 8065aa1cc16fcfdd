// A scrape beside a store that is slow or away.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { COLLECT_MS_MAX } from '../cli/workers/worker-scrapes.ts'
import { createTally } from '../platform/measuring/tally.ts'
import type { PresenceStore } from '../store/port.ts'
import { COUNT_MS_MAX, createMetrics, type ProcessGauges } from './metrics.ts'

const GAUGES: ProcessGauges = {
  trackerDepth: 0,
  sweepLagMs: 0,
  archiveBacklog: 0,
  isArchiveFailing: false,
  clockOffsetMs: 0,
  dutiesSince: { announce: null, archive: null },
  logLinesSuppressed: 0,
  deadLetters: 0,
}

function collectWith(countByStatus: PresenceStore['countByStatus']) {
  const clock = createFakeClock(0)
  const collect = createMetrics({
    tally: createTally(),
    gateway: () => null,
    isHealthy: () => true,
    process: () => GAUGES,
    logLag: () => ({}),
    store: { countByStatus },
    clock,
    version: 'test',
    roles: [],
  })
  return { clock, collect }
}

const usersIn = (families: { name: string; samples: readonly object[] }[]) =>
  families.find(({ name }) => name === 'greendot_users')!.samples

test('[X8, C7] a slow store leaves out its own figure, soon enough for a scrape of all workers', async () => {
  expect(COUNT_MS_MAX).toBeLessThan(COLLECT_MS_MAX)
  const { clock, collect } = collectWith(() => new Promise(() => {}))
  const collected = collect()
  await clock.advance(COUNT_MS_MAX)
  const families = await collected
  expect(usersIn(families)).toEqual([])
  expect(families.map(({ name }) => name)).toContain('greendot_sessions')
})

test('[X8] the count of users is there in time, and no timer is left', async () => {
  const { clock, collect } = collectWith(async () => ({ online: 3 }) as never)
  expect(usersIn(await collect())).toMatchObject([{ labels: { status: 'online' }, value: 3 }])
  expect(clock.timerCount()).toBe(0)
})
