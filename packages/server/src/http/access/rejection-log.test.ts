import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createLogger } from '../../platform/logger.ts'
import { createRejectionLog } from './rejection-log.ts'

function scene() {
  const lines: { reason: string; suppressed: number }[] = []
  const clock = createFakeClock(Date.UTC(2030, 0, 1))
  const write = (line: string) => {
    const { level, reason, suppressed } = JSON.parse(line)
    expect(level).toBe('warn')
    lines.push({ reason, suppressed })
  }
  const log = createRejectionLog({ clock, logger: createLogger({ level: 'info', destination: { write } }) })
  return { lines, clock, log }
}

test('[C6] the first rejection is logged at once, the others once per interval with their number', async () => {
  const { lines, clock, log } = scene()
  for (let count = 0; count < 1_000; count++) log.report('expired')
  expect(lines).toEqual([{ reason: 'expired', suppressed: 0 }])
  await clock.advance(10_000)
  log.report('expired')
  await clock.advance(10_000)
  // After a quiet interval the next one is the first again.
  await clock.advance(10_000)
  log.report('expired')
  expect(lines.map(({ suppressed }) => suppressed)).toEqual([0, 999, 1, 0])
})

test('[C6] reasons are counted apart, and a stop logs the rest', async () => {
  const { lines, clock, log } = scene()
  for (const reason of ['expired', 'no sub', 'no sub', 'no sub', 'expired'] as const) log.report(reason)
  log.stop()
  expect(lines).toEqual([
    { reason: 'expired', suppressed: 0 },
    { reason: 'no sub', suppressed: 0 },
    { reason: 'expired', suppressed: 1 },
    { reason: 'no sub', suppressed: 2 },
  ])
  await clock.advance(60_000)
  expect(lines).toHaveLength(4)
})
