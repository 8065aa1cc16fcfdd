import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSchedule } from './schedule.ts'

const order = fc.constantFrom('shuffled' as const, 'sequential' as const)

describe('the schedule', () => {
  test('[C9] a change, its user and its serial name each other', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        order,
        fc.array(fc.integer({ min: 0, max: 70 }), { minLength: 1, maxLength: 4 }),
        (users, wanted, how, lengths) => {
          const schedule = createSchedule({ users, changers: Math.min(users, wanted), order: how, seed: 3 })
          for (const changes of lengths) schedule.add({ startAt: 0, perSecond: 10, changes })
          const made = new Map<number, number>()
          for (let change = 0; change < schedule.total(); change++) {
            const user = schedule.userOf(change)
            const serial = (made.get(user) ?? 0) + 1
            made.set(user, serial)
            expect(schedule.serialOf(change)).toBe(serial)
            expect(schedule.changeOf(user, serial)).toBe(change)
          }
          for (let user = 0; user < users; user++) expect(schedule.serialsOf(user)).toBe(made.get(user) ?? 0)
        },
      ),
    )
  })

  test('[C9] changes are due evenly within a phase, and each phase has its own rate', () => {
    const schedule = createSchedule({ users: 10, changers: 10, order: 'sequential', seed: 0 })
    schedule.add({ startAt: 1_000, perSecond: 100, changes: 3 })
    schedule.add({ startAt: 5_000, perSecond: 1, changes: 2 })
    const due = Array.from({ length: 5 }, (_, change) => schedule.dueAt(change))
    expect(due).toEqual([1_000, 1_010, 1_020, 5_000, 6_000])
    expect([0, 2, 3, 4, 5, -1].map((change) => schedule.phaseOf(change))).toEqual([0, 0, 1, 1, -1, -1])
  })

  test('[C9] only as many change as were asked for, in the order of the seed', () => {
    const users = (seed: number) => {
      const schedule = createSchedule({ users: 100, changers: 5, order: 'shuffled', seed })
      schedule.add({ startAt: 0, perSecond: 1, changes: 20 })
      return Array.from({ length: 20 }, (_, change) => schedule.userOf(change))
    }
    expect(new Set(users(1)).size).toBe(5)
    expect(users(1)).toEqual(users(1))
    expect(users(1)).not.toEqual(users(2))
  })
})
