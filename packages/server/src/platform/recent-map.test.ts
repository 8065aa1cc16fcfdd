// A map with a limit: the newest half is always there.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRecentMap } from './recent-map.ts'

const MAX = 8

describe('a recent map', () => {
  test('[R6] holds the newest half, the value set last, and no deleted entry', () => {
    const key = fc.constantFrom(...'abcdefghijklmnop')
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ does: fc.constant('set' as const), key }) },
      { weight: 1, arbitrary: fc.record({ does: fc.constant('delete' as const), key }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const map = createRecentMap<number>(MAX)
        const model = new Map<string, number>()
        for (const [at, { does, key }] of steps.entries()) {
          model.delete(key)
          if (does === 'set') {
            map.set(key, at)
            model.set(key, at)
          } else map.delete(key)
          const held = [...'abcdefghijklmnop'].filter((one) => map.get(one) !== undefined)
          expect(held.length).toBeLessThanOrEqual(MAX)
          for (const one of held) expect(map.get(one)).toBe(model.get(one)!)
          const certain = [...model.keys()].slice(-(MAX / 2 - 1))
          for (const one of certain) expect(map.get(one)).toBe(model.get(one)!)
        }
      }),
    )
  })

  test('[R6] holds entries for their time, and drops them all after twice that', () => {
    const map = createRecentMap<number>(1_000, 100)
    map.set('a', 1, 1_000)
    map.set('b', 2, 1_099)
    expect([map.get('a'), map.get('b')]).toEqual([1, 2])
    map.set('c', 3, 1_150)
    // In the older half now, and there until it is past its time as well.
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, 2, 3])
    map.set('d', 4, 1_251)
    expect([map.get('a'), map.get('b'), map.get('c'), map.get('d')]).toEqual([undefined, undefined, 3, 4])
    map.set('e', 5, 9_000)
    expect([map.get('c'), map.get('d'), map.get('e')]).toEqual([undefined, undefined, 5])
  })
})
