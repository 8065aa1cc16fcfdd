// User ids as small integers, compared with a map that counts: an index means one id for as long as anything
// refers to it, and is used again afterwards.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createInterner } from './interner.ts'

describe('the interner', () => {
  test('an id has one index while anything refers to it', () => {
    const interner = createInterner()
    const index = interner.acquire('bob')
    expect(interner.acquire('bob')).toBe(index)
    expect(interner.release(index)).toBe(false)
    expect(interner.find('bob')).toBe(index)
    expect(interner.name(index)).toBe('bob')
    expect(interner.release(index)).toBe(true)
    expect(interner.find('bob')).toBe(-1)
    expect(interner.size()).toBe(0)
  })

  test('[S6] the owner of tables by index is told when an index is free', () => {
    const freed: number[] = []
    const interner = createInterner()
    interner.onFree((index) => freed.push(index))
    const index = interner.acquire('bob')
    interner.retain(index)
    interner.release(index)
    expect(freed).toEqual([])
    interner.release(index)
    expect(freed).toEqual([index])
  })

  test('ids that are names of object properties are ids like any other', () => {
    const interner = createInterner()
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', 'length']
    for (const name of names) expect(interner.find(name)).toBe(-1)
    const indexes = names.map((name) => interner.acquire(name))
    expect(new Set(indexes).size).toBe(names.length)
    expect(indexes.map((index) => interner.name(index))).toEqual(names)
  })

  test('[W3] any sequence of acquiring and releasing agrees with counting by hand', () => {
    const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', '日本')
    const steps = fc.array(fc.record({ id: ids, takes: fc.boolean() }), { maxLength: 200 })
    fc.assert(
      fc.property(steps, (sequence) => {
        const interner = createInterner()
        const counts = new Map<string, number>()
        const indexes = new Map<string, number>()
        let widest = 0
        let highest = -1
        for (const { id, takes } of sequence) {
          const count = counts.get(id) ?? 0
          if (takes) {
            const index = interner.acquire(id)
            if (count > 0) expect(index).toBe(indexes.get(id)!)
            highest = Math.max(highest, index)
            indexes.set(id, index)
            counts.set(id, count + 1)
          } else if (count > 0) {
            expect(interner.release(indexes.get(id)!)).toBe(count === 1)
            counts.set(id, count - 1)
          }
          const held = [...counts].filter(([, references]) => references > 0).map(([name]) => name)
          widest = Math.max(widest, held.length)
          expect(new Set(held.map((name) => indexes.get(name))).size).toBe(held.length)
          expect(interner.size()).toBe(held.length)
          for (const name of held) {
            expect(interner.find(name)).toBe(indexes.get(name)!)
            expect(interner.name(indexes.get(name)!)).toBe(name)
          }
        }
        // Free indexes are used before new ones, so tables by index stay short.
        expect(highest).toBe(widest - 1)
      }),
    )
  })
})
