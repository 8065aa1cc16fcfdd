import { expect, test } from 'bun:test'
import { floorOf, slopePerHour } from './slope.ts'

test('[C9] the slope is that of the line, and the beginning does not count', () => {
  const timeS = Array.from({ length: 101 }, (_, second) => second)
  const grows = timeS.map((second) => 50 + second / 36)
  expect(slopePerHour(timeS, grows, 0)).toBeCloseTo(100, 6)
  const settles = timeS.map((second) => (second < 20 ? second * 10 : 200))
  expect(slopePerHour(timeS, settles, 0.2)).toBeCloseTo(0, 6)
  expect(slopePerHour([1], [5], 0)).toBe(0)
  expect(slopePerHour([0, 1, 2], [1, null, 3], 0)).toBeCloseTo(3600, 6)
})

test('[C9] the floor is the lowest of each stretch, and what goes up and down has none that grows', () => {
  expect(floorOf([3, 1, 2, null, 5, 4, 7], 3)).toEqual([null, 1, null, null, null, 4, 7])
  const timeS = Array.from({ length: 120 }, (_, second) => second)
  const saw = timeS.map((second) => 100 + (second % 30) * (1 + second / 30))
  expect(slopePerHour(timeS, floorOf(saw, 30), 0)).toBeCloseTo(0, 6)
  expect(slopePerHour(timeS, saw, 0)).toBeGreaterThan(100)
})
