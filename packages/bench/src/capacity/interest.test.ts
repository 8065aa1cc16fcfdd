import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { expectedGateways, framesPerSecond } from './interest.ts'

const gateways = fc.integer({ min: 1, max: 5_000 })
const watchers = fc.record({
  contacts: fc.integer({ min: 0, max: 2_000 }),
  online: fc.double({ min: 0.001, max: 1, noNaN: true }),
  devices: fc.double({ min: 1, max: 4, noNaN: true }),
})

/** The sum over every number of contacts online, with its probability. */
function byCases(bins: number, contacts: number, online: number): number {
  let expected = 0
  let ways = 1
  for (let here = 0; here <= contacts; here++) {
    const likely = ways * online ** here * (1 - online) ** (contacts - here)
    expected += likely * bins * (1 - (1 - 1 / bins) ** here)
    ways = (ways * (contacts - here)) / (here + 1)
  }
  return expected
}

describe('[W4] gateways that a change goes to', () => {
  test('agrees with the sum over all cases', () => {
    for (const [bins, contacts, online] of [
      [1, 5, 0.3],
      [2, 1, 0.5],
      [7, 12, 0.25],
      [40, 30, 0.9],
    ] as const) {
      const one = expectedGateways(bins, { contacts, online, devices: 1 })
      expect(one).toBeCloseTo(byCases(bins, contacts, online), 9)
    }
  })

  test('a second device adds a connection only where the user is online', () => {
    const two = expectedGateways(10, { contacts: 20, online: 1, devices: 2 })
    expect(two).toBeCloseTo(expectedGateways(10, { contacts: 40, online: 1, devices: 1 }), 9)
    const apart = expectedGateways(10, { contacts: 40, online: 0.5, devices: 1 })
    expect(expectedGateways(10, { contacts: 20, online: 0.5, devices: 2 })).toBeLessThan(apart)
  })

  test('without watchers none, with a single gateway one', () => {
    expect(expectedGateways(50, { contacts: 0, online: 1, devices: 1 })).toBe(0)
    expect(expectedGateways(1, { contacts: 0, online: 1, devices: 1 })).toBe(0)
    expect(expectedGateways(1, { contacts: 5, online: 1, devices: 3 })).toBe(1)
  })

  test('is bounded by gateways and by connections, and grows with both', () => {
    fc.assert(
      fc.property(gateways, watchers, (bins, one) => {
        const here = expectedGateways(bins, one)
        expect(here).toBeGreaterThanOrEqual(0)
        expect(here).toBeLessThanOrEqual(Math.min(bins, one.contacts * one.online * one.devices) * (1 + 1e-9))
        expect(expectedGateways(bins + 1, one)).toBeGreaterThanOrEqual(here * (1 - 1e-9))
        const more = { ...one, contacts: one.contacts + 1 }
        expect(expectedGateways(bins, more)).toBeGreaterThanOrEqual(here * (1 - 1e-9))
      }),
    )
  })
})

describe('[W5] frames with changes', () => {
  test('few changes are a frame each, many share one a flush', () => {
    expect(framesPerSecond(0, 50)).toBe(0)
    expect(framesPerSecond(0.01, 50)).toBeCloseTo(0.01, 5)
    expect(framesPerSecond(1_000, 50)).toBeCloseTo(20, 9)
  })
})
