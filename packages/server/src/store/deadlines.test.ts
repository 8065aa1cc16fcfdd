// The deadline queue against a naive model. A failing property prints `{ seed, path }`; to replay
// it, pass both on: `fc.assert(property, { seed: …, path: '…' })`.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createDeadlines, type Deadline } from './deadlines.ts'

const keysOf = (deadlines: Deadline[]): string[] => deadlines.map((deadline) => deadline.key)

describe('deadlines', () => {
  test('[D3] lists what is due, earliest first, and removes nothing', () => {
    const deadlines = createDeadlines()
    deadlines.set('late', 30)
    deadlines.set('early', 10)
    deadlines.set('middle', 20)
    deadlines.set('future', 31)

    const expected = [
      { key: 'early', at: 10 },
      { key: 'middle', at: 20 },
      { key: 'late', at: 30 },
    ]
    expect(deadlines.due(30, 10)).toEqual(expected)
    expect(deadlines.due(30, 10)).toEqual(expected)
    expect(deadlines.size).toBe(4)
  })

  test('[D3] a limit cuts the latest, never the earliest', () => {
    const deadlines = createDeadlines()
    for (const at of [5, 3, 9, 1, 7]) deadlines.set(`k${at}`, at)

    expect(keysOf(deadlines.due(9, 2))).toEqual(['k1', 'k3'])
    expect(deadlines.due(9, 0)).toEqual([])
    expect(deadlines.due(0, 10)).toEqual([])
  })

  test('[D3] a key that moves keeps one entry, in both directions', () => {
    const deadlines = createDeadlines()
    deadlines.set('bob', 50)
    deadlines.set('alice', 40)
    for (let at = 100; at > 0; at--) deadlines.set('bob', at)
    expect(deadlines.first()).toEqual({ key: 'bob', at: 1 })

    deadlines.set('bob', 60)
    expect(keysOf(deadlines.due(100, 10))).toEqual(['alice', 'bob'])
    expect(deadlines.size).toBe(2)
  })

  test('[D3] a removed key is gone at once, and removing it again says so', () => {
    const deadlines = createDeadlines()
    deadlines.set('bob', 1)
    expect(deadlines.delete('bob')).toBe(true)
    expect(deadlines.delete('bob')).toBe(false)
    expect(deadlines.first()).toBeNull()
    expect(deadlines.due(Number.POSITIVE_INFINITY, 10)).toEqual([])
    expect(deadlines.size).toBe(0)
  })

  test('[D3] something that is not a number is refused before it can spoil the order', () => {
    const deadlines = createDeadlines()
    deadlines.set('bob', 5)
    expect(() => deadlines.set('bob', Number.NaN)).toThrow('bob')
    expect(() => deadlines.set('eve', Number.NaN)).toThrow('eve')
    expect(deadlines.due(10, 10)).toEqual([{ key: 'bob', at: 5 }])
  })

  test('[D3] any history of moves and removals lists like a sorted table', () => {
    const key = fc.integer({ min: 0, max: 150 }).map((n) => `user-${n}`)
    const at = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: -1e9, max: 1e13 }))
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant('set' as const), key, at }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('due' as const), at, limit: fc.nat(60) }) },
    )
    const property = fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
      const deadlines = createDeadlines()
      const model = new Map<string, number>()
      for (const step of steps) {
        if (step.do === 'set') {
          deadlines.set(step.key, step.at)
          model.set(step.key, step.at)
        } else if (step.do === 'delete') {
          expect(deadlines.delete(step.key)).toBe(model.delete(step.key))
        } else {
          expectLikeModel(deadlines.due(step.at, step.limit), model, step.at, step.limit)
        }
        expect(deadlines.size).toBe(model.size)
        expect(deadlines.first()?.at ?? null).toBe(model.size === 0 ? null : Math.min(...model.values()))
      }
      expectLikeModel(deadlines.due(1e14, 1000), model, 1e14, 1000)
    })
    fc.assert(property, { numRuns: 100, includeErrorInReport: true })
  })

  test('[D3] 100,000 deadlines that move and go leave exactly the right order', () => {
    const deadlines = createDeadlines()
    const model = new Map<string, number>()
    // A fixed multiplicative walk: scattered, and the same in every run.
    for (let i = 0; i < 200_000; i++) {
      const key = `user-${(i * 48271) % 100_003}`
      const at = (i * 69621) % 1_000_003
      deadlines.set(key, at)
      model.set(key, at)
      if (i % 5 === 4) {
        const gone = `user-${(i * 16807) % 100_003}`
        expect(deadlines.delete(gone)).toBe(model.delete(gone))
      }
    }
    expect(deadlines.size).toBe(model.size)
    expectLikeModel(deadlines.due(1_000_003, 200_000), model, 1_000_003, 200_000)
    expectLikeModel(deadlines.due(500_000, 1_000), model, 500_000, 1_000)
  })
})

/** Equal instants may come in any order, so instants are compared as a list and keys as facts. */
function expectLikeModel(listed: Deadline[], model: Map<string, number>, now: number, limit: number): void {
  const instants = [...model.values()].filter((at) => at <= now).sort((a, b) => a - b)
  expect(listed.map((deadline) => deadline.at)).toEqual(instants.slice(0, limit))
  expect(new Set(keysOf(listed)).size).toBe(listed.length)
  expect(listed.every(({ key, at }) => model.get(key) === at)).toBe(true)
}
