// Row numbers: nobody has one that somebody else has, blocks are filled one after the other, and which one it is
// tells nothing of who else is there.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRowNumbers, LOTS, lotOf } from './row-numbers.ts'

const SET_ROWS = LOTS * 64

describe('row numbers', () => {
  test('[C1] are lent to one at a time, from a lot by chance, however they come back', () => {
    const lots = fc.array(fc.nat(LOTS - 1), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(lots, fc.array(fc.nat(), { maxLength: 300 }), (drawn, returned) => {
        let draw = 0
        const numbers = createRowNumbers(() => drawn[draw % drawn.length]!)
        const lent: number[] = []
        for (; draw < drawn.length; draw++) {
          const row = numbers.take()
          expect(lotOf(row)).toBe(drawn[draw]!)
          expect(lent).not.toContain(row)
          expect(row).toBeLessThan(numbers.end())
          lent.push(row)
          const back = returned[draw]
          if (back !== undefined && back % 3 === 0) numbers.giveBack(lent.splice(back % lent.length, 1)[0]!)
        }
        // At most one set more than the fullest lot needs.
        expect(numbers.end() % SET_ROWS).toBe(0)
      }),
    )
  })

  test('[C9] of one lot are neighbours, and come again before new ones are made', () => {
    const numbers = createRowNumbers(() => 3)
    const first = Array.from({ length: 64 }, () => numbers.take())
    expect(first).toEqual(Array.from({ length: 64 }, (_, position) => 3 * 64 + position))
    numbers.giveBack(first[7]!)
    expect(numbers.take()).toBe(first[7]!)
    expect(numbers.end()).toBe(SET_ROWS)
    expect(numbers.take()).toBe(SET_ROWS + 3 * 64)
    expect(numbers.end()).toBe(2 * SET_ROWS)
  })
})
