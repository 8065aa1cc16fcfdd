// The byte on a watch edge: its parts never disturb each other, and the usual case is zero.
import { describe, expect, test } from 'bun:test'
import { SIGHTS } from '../../presence/privacy/visibility.ts'
import {
  FOLLOWED,
  HELD_BACK,
  IN_DOUBT,
  isInDoubt,
  isNothingSeen,
  isWholeSeen,
  NAMED,
  sightOf,
  withSight,
} from './edge-flags.ts'

const REASONS = [0, NAMED, FOLLOWED, NAMED | FOLLOWED]
const DOUBTS = [0, IN_DOUBT].flatMap((doubt) => [0, HELD_BACK].map((waiting) => doubt | waiting))

/** Every byte an edge can have. */
const ALL = SIGHTS.flatMap((sight) =>
  REASONS.flatMap((reasons) => DOUBTS.map((doubt) => ({ sight, reasons, doubt }))),
).map((parts) => ({ ...parts, flags: withSight(parts.reasons, parts.sight) | parts.doubt }))

describe('edge flags', () => {
  test('[S6] a new edge sees everything, is sure of it, and has no reason yet', () => {
    expect([sightOf(0), isWholeSeen(0), isInDoubt(0), isNothingSeen(0)]).toEqual([
      'everything',
      true,
      false,
      false,
    ])
  })

  test('[S6] all combinations are different and fit one byte', () => {
    expect(new Set(ALL.map(({ flags }) => flags)).size).toBe(ALL.length)
    for (const { flags } of ALL) expect(flags).toBe(flags & 0xff)
  })

  test('[S6] each part reads as it was written, whatever the others are', () => {
    for (const { flags, sight, doubt, reasons } of ALL) {
      expect(sightOf(flags)).toBe(sight)
      expect(isNothingSeen(flags)).toBe(sight === 'nothing')
      expect(isInDoubt(flags)).toBe((doubt & IN_DOUBT) !== 0)
      expect(flags & (NAMED | FOLLOWED)).toBe(reasons)
    }
  })

  test('[S6] only who sees everything and is in no doubt may get the shared bytes', () => {
    for (const { flags, sight, doubt } of ALL) {
      expect(isWholeSeen(flags)).toBe(sight === 'everything' && (doubt & IN_DOUBT) === 0)
    }
  })

  test('[S6] a sight is settled with nothing in doubt, missed or held back, and the reasons stay', () => {
    for (const { flags, reasons } of ALL) {
      for (const next of SIGHTS) expect(withSight(flags, next)).toBe(withSight(reasons, next))
    }
  })
})
