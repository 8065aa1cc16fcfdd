// What a gateway knows of people's privacy: messages come late, twice and in any order, and the newest of
// each part is kept.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  NO_PRIVACY_CHOSEN,
  type Privacy,
  type PrivacySetting,
  UNRESTRICTED,
} from '../../presence/core/privacy.ts'
import { createDiscretions } from './visibility-inputs.ts'

const chosen = (setAt: number, change: Partial<Privacy> = {}): PrivacySetting => ({
  ...NO_PRIVACY_CHOSEN,
  ...change,
  setAt,
})
const BOB = 3

describe('discretions', () => {
  test('[S6] somebody nobody heard of is unguarded, the very same value for all', () => {
    const discretions = createDiscretions()
    expect(discretions.of(BOB)).toBe(UNRESTRICTED)
    expect(discretions.learn(BOB, { privacy: null, contactsAt: 0 })).toBe(false)
    expect(discretions.of(BOB)).toBe(UNRESTRICTED)
  })

  test('[S6] learning takes what is newer of each part, and says whether there was any', () => {
    const discretions = createDiscretions()
    const first = chosen(10, { statusVisibility: 'nobody' })
    expect(discretions.learn(BOB, { privacy: first, contactsAt: 5 })).toBe(true)
    expect(discretions.learn(BOB, { privacy: first, contactsAt: 5 })).toBe(false)
    // Older privacy with a newer list, then the other way round.
    expect(discretions.learn(BOB, { privacy: chosen(9), contactsAt: 7 })).toBe(true)
    expect(discretions.of(BOB)).toEqual({ privacy: first, contactsAt: 7 })
    const second = chosen(11, { deny: ['eve'] })
    expect(discretions.learn(BOB, { privacy: second, contactsAt: 6 })).toBe(true)
    expect(discretions.of(BOB)).toEqual({ privacy: second, contactsAt: 7 })
  })

  test('[S6] a message from before any choice takes nothing back', () => {
    const discretions = createDiscretions()
    const privacy = chosen(10, { statusVisibility: 'nobody' })
    discretions.learn(BOB, { privacy, contactsAt: 5 })
    expect(discretions.learn(BOB, UNRESTRICTED)).toBe(false)
    expect(discretions.of(BOB)).toEqual({ privacy, contactsAt: 5 })
  })

  test('[S6] what is known stays one value as long as nothing changes: decisions are compared by it', () => {
    const discretions = createDiscretions()
    discretions.learn(BOB, { privacy: chosen(10), contactsAt: 5 })
    const known = discretions.of(BOB)
    discretions.learn(BOB, { privacy: chosen(10), contactsAt: 4 })
    discretions.replace(BOB, { privacy: chosen(10), contactsAt: 5 })
    expect(discretions.of(BOB)).toBe(known)
  })

  test('[S6] replacing takes it as it is, older too, and unguarded leaves nothing behind', () => {
    const discretions = createDiscretions()
    discretions.learn(BOB, { privacy: chosen(10), contactsAt: 5 })
    const older = { privacy: chosen(3), contactsAt: 2 }
    expect(discretions.replace(BOB, older)).toBe(true)
    expect(discretions.of(BOB)).toEqual(older)
    expect(discretions.replace(BOB, { privacy: null, contactsAt: 0 })).toBe(true)
    expect(discretions.replace(BOB, UNRESTRICTED)).toBe(false)
    expect(discretions.of(BOB)).toBe(UNRESTRICTED)
  })

  test('[S6] forgetting concerns one user only', () => {
    const discretions = createDiscretions()
    for (const user of [BOB, BOB + 1]) discretions.learn(user, { privacy: chosen(10), contactsAt: 0 })
    discretions.forget(BOB)
    expect(discretions.of(BOB)).toBe(UNRESTRICTED)
    expect(discretions.of(BOB + 1).privacy?.setAt).toBe(10)
    // Whoever gets the number next begins with nothing, also with what is older.
    expect(discretions.learn(BOB, { privacy: chosen(1), contactsAt: 0 })).toBe(true)
  })

  test('[S6, P20] after any messages in any order it is the newest of each part', () => {
    const message = fc.record({ setAt: fc.nat(5), contactsAt: fc.nat(5) })
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 12 }), (messages) => {
        const discretions = createDiscretions()
        for (const { setAt, contactsAt } of messages) {
          const before = discretions.of(BOB)
          const isNews = discretions.learn(BOB, { privacy: setAt === 0 ? null : chosen(setAt), contactsAt })
          expect(discretions.of(BOB) !== before).toBe(isNews)
        }
        const newest = (pick: (message: { setAt: number; contactsAt: number }) => number) =>
          Math.max(...messages.map(pick))
        expect(discretions.of(BOB).privacy?.setAt ?? 0).toBe(newest(({ setAt }) => setAt))
        expect(discretions.of(BOB).contactsAt).toBe(newest(({ contactsAt }) => contactsAt))
      }),
    )
  })

  test('[S6, P20] of two choices of one instant it is the one that the record keeps', () => {
    // Two servers may date two choices alike; the record then orders them by value, and messages of
    // both are on their way here.
    const [kept, lost] = [
      chosen(10, { statusVisibility: 'nobody' }),
      chosen(10, { statusVisibility: 'everyone' }),
    ]
    for (const order of [
      [kept, lost],
      [lost, kept],
    ]) {
      const discretions = createDiscretions()
      for (const privacy of order) discretions.learn(BOB, { privacy, contactsAt: 0 })
      expect(discretions.of(BOB).privacy).toEqual(kept)
    }
  })
})
