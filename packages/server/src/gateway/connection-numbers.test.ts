import { expect, test } from 'bun:test'
import { createConnectionNumbers } from './connection-numbers.ts'

test('[W3] a number belongs to one connection at a time, and free numbers are used again first', () => {
  const numbers = createConnectionNumbers()
  expect([numbers.take(), numbers.take(), numbers.take()]).toEqual([0, 1, 2])
  numbers.giveBack(1)
  numbers.giveBack(0)
  const again = [numbers.take(), numbers.take()]
  expect(again.sort()).toEqual([0, 1])
  expect(numbers.take()).toBe(3)
})
