// Runs properties over histories of the presence core: the machine is stepped through a history, delivery by
// delivery or with a stop at every deadline.
import fc from 'fast-check'
import { nextDeadline, step } from '../../packages/server/src/presence/core/machine.ts'
import { emptyRecord, type UserRecord } from '../../packages/server/src/presence/core/record.ts'
import { DAWN_AT, type Delivery, FAR_MS, type History } from './presence-histories.ts'

/** One delivery, and the record before and after it. */
export interface Frame extends Delivery {
  before: UserRecord
  after: UserRecord
  dueAt: number | null
}

/** The records of a history, delivery by delivery. */
export function framesOf({ policy, deliveries }: History, start: UserRecord = emptyRecord()): Frame[] {
  let before = start
  return deliveries.map((delivery) => {
    const { record, dueAt } = step(before, delivery.events, delivery.now, policy)
    const frame = { ...delivery, before, after: record, dueAt }
    before = record
    return frame
  })
}

/** Every record of a history, with a settle at each deadline on the way and long after the end. */
export function everyRecord(history: History): { record: UserRecord; at: number }[] {
  const seen = [{ record: emptyRecord(), at: 0 }]
  const end = { now: (history.deliveries.at(-1)?.now ?? DAWN_AT) + FAR_MS, events: [] }
  let record = emptyRecord()
  for (const { now, events } of [...history.deliveries, end]) {
    for (;;) {
      const dueAt = nextDeadline(record, history.policy)
      if (dueAt === null || dueAt > now) break
      record = step(record, [], dueAt, history.policy).record
      if (record.settledAt < dueAt)
        throw new Error(`a step at ${dueAt} did not meet the deadline of ${dueAt}`)
      seen.push({ record, at: dueAt })
    }
    record = step(record, events, now, history.policy).record
    seen.push({ record, at: now })
  }
  return seen
}

/** Deep enough for records and events; a machine that mutates its input throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}

/**
 * Runs a property. The same histories every time, so that a red test stays red; another
 * `GREENDOT_TEST_SEED` explores others. fast-check prints the seed and the smallest counterexample.
 */
export function holds<Ts extends [unknown, ...unknown[]]>(property: fc.IProperty<Ts>, numRuns = 400): void {
  const seed = Number(process.env.GREENDOT_TEST_SEED ?? 1)
  const factor = Number(process.env.GREENDOT_TEST_RUNS_FACTOR ?? 1)
  fc.assert(property, { seed, numRuns: numRuns * factor })
}
