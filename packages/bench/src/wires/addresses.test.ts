// Source addresses are loopback, and neither load processes nor runs share them.
import { expect, test } from 'bun:test'
import { addressAt, createAddresses, firstAddress } from './addresses.ts'

const STARTED_AT = 1_763_200_000_000

function taken(startedAt: number, process: number, connections: number): Set<string> {
  const next = createAddresses(firstAddress(startedAt, process))
  return new Set(Array.from({ length: connections }, next))
}

test('[X7] every address is loopback and whole', () => {
  for (let number = 0; number < 1 << 20; number += 251) {
    const parts = addressAt(number).split('.').map(Number)
    expect(parts[0]).toBe(127)
    expect(parts.every((part) => part >= 0 && part <= 255)).toBe(true)
    expect(parts[3]).toBeWithin(1, 255)
  }
})

test('[X7] a full load process uses a handful, and shares none with its neighbour or the next run', () => {
  const mine = taken(STARTED_AT, 0, 18_000)
  expect(mine.size).toBe(9)
  for (const others of [taken(STARTED_AT, 1, 18_000), taken(STARTED_AT + 5_000, 0, 18_000)])
    expect([...others].some((address) => mine.has(address))).toBe(false)
})
