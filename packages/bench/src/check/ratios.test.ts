import { describe, expect, test } from 'bun:test'
import type { Reading } from '../micro/measure.ts'
import { better, isFailure, judge, updated } from './ratios.ts'

const reading = (name: string, ratio: number | null): Reading => ({
  name,
  unit: 'a second',
  ours: 1,
  bare: ratio === null ? null : 1 / ratio,
  ratio,
})
const stored = { step: { ratio: 0.5, tolerance: 0.2 }, commit: { ratio: 0.8, tolerance: 0.1 } }
const results = (...args: Parameters<typeof judge>) =>
  Object.fromEntries(judge(...args).map(({ name, result }) => [name, result]))

describe('[X7] the regression guard', () => {
  test('holds down to the tolerance and falls below it', () => {
    expect(results([reading('step', 0.401), reading('commit', 2)], stored)).toEqual({
      step: 'holds',
      commit: 'holds',
    })
    expect(results([reading('step', 0.399), reading('commit', 0.8)], stored)).toEqual({
      step: 'fell',
      commit: 'holds',
    })
  })

  test('fails for what nothing measures any more, not for what cannot run here', () => {
    const readings = [reading('step', 0.5)]
    expect(results(readings, stored)).toMatchObject({ commit: 'unmeasured' })
    expect(results(readings, stored, new Set(['commit']))).toMatchObject({ commit: 'skipped' })
    expect(judge(readings, stored).some(isFailure)).toBe(true)
    expect(judge(readings, stored, new Set(['commit'])).some(isFailure)).toBe(false)
  })

  test('lets new ratios pass and leaves out readings without one', () => {
    const verdicts = judge([reading('step', 0.5), reading('fresh', 1), reading('bytes', null)], {
      step: stored.step,
    })
    expect(verdicts.map(({ name, result }) => [name, result])).toEqual([
      ['step', 'holds'],
      ['fresh', 'new'],
    ])
    expect(verdicts.some(isFailure)).toBe(false)
  })

  test('an update keeps tolerances, and what could not be measured', () => {
    expect(updated([reading('step', 0.61234), reading('fresh', 1)], stored, new Set(['commit']))).toEqual({
      step: { ratio: 0.612, tolerance: 0.2 },
      fresh: { ratio: 1, tolerance: 0.25 },
      commit: stored.commit,
    })
    expect(updated([reading('step', 0.6)], stored)).toEqual({ step: { ratio: 0.6, tolerance: 0.2 } })
  })

  test('a second look counts when it is better', () => {
    const first = [reading('step', 0.3), reading('commit', 0.9)]
    expect(better(first, [reading('step', 0.5)])).toEqual([reading('step', 0.5), reading('commit', 0.9)])
    expect(better(first, [reading('step', 0.2)])).toEqual(first)
  })
})
