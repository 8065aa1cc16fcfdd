import { describe, expect, test } from 'bun:test'
import { BOUND_GROUPS } from './bound-groups.ts'
import stored from './bounds.json' with { type: 'json' }
import { createLargest, judgeBounds, lower } from './bounds.ts'

const bounds = { block: { max: 20, unit: 'ms', why: 'a reason' } }

describe('[X7] bounds of the check', () => {
  test('a value holds up to its bound', () => {
    const results = [19, 20, 20.1].map((value) => judgeBounds([{ name: 'block', value }], bounds)[0]!.result)
    expect(results).toEqual(['holds', 'holds', 'over'])
  })

  test('a value without a bound is a mistake', () => {
    expect(() => judgeBounds([{ name: 'other', value: 1 }], bounds)).toThrow('no bound for "other"')
  })

  test('of two measurements the lower value counts', () => {
    const first = [
      { name: 'block', value: 25, detail: 'add' },
      { name: 'late', value: 3 },
    ]
    expect(lower(first, [{ name: 'block', value: 9 }])).toEqual([
      { name: 'block', value: 9 },
      { name: 'late', value: 3 },
    ])
    expect(lower(first, [{ name: 'block', value: 30 }])).toEqual(first)
  })

  test('of several steps the largest value counts, with the name of its step', () => {
    const largest = createLargest('block')
    for (const [step, value] of [
      ['add', 3],
      ['remove', 8],
      ['read', 5],
    ] as const)
      largest.add(step, value)
    expect(largest.value()).toEqual({ name: 'block', value: 8, detail: 'remove' })
  })

  test('every stored bound is measured by one group, and every measured value has a bound', () => {
    expect(BOUND_GROUPS.flatMap(({ bounds }) => bounds).toSorted()).toEqual(Object.keys(stored).toSorted())
  })
})
