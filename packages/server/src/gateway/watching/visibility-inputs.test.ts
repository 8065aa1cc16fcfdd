// What a gateway knows of the privacy of users: messages come late, twice and in any order, and the newest
// of each part is kept.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  NO_PRIVACY_CHOSEN,
  type Privacy,
  type PrivacySetting,
  UNRESTRICTED,
} from '../../presence/core/privacy.ts'
import { createInputTable } from './visibility-inputs.ts'

const chosen = (setAt: number, change: Partial<Privacy> = {}): PrivacySetting => ({
  ...NO_PRIVACY_CHOSEN,
  ...change,
  setAt,
})
const BOB = 3

describe('the input table', () => {
  test('[S6] a user without settings is unrestricted, the very same value for all', () => {
    const inputs = createInputTable()
    expect(inputs.of(BOB)).toBe(UNRESTRICTED)
    expect(inputs.learn(BOB, { privacy: null, contactsAt: 0 })).toBe(false)
    expect(inputs.of(BOB)).toBe(UNRESTRICTED)
  })

  test('[S6] learning takes what is newer of each part, and returns whether anything was', () => {
    const inputs = createInputTable()
    const first = chosen(10, { statusVisibility: 'nobody' })
    expect(inputs.learn(BOB, { privacy: first, contactsAt: 5 })).toBe(true)
    expect(inputs.learn(BOB, { privacy: first, contactsAt: 5 })).toBe(false)
    // Older privacy with a newer list, then the other way round.
    expect(inputs.learn(BOB, { privacy: chosen(9), contactsAt: 7 })).toBe(true)
    expect(inputs.of(BOB)).toEqual({ privacy: first, contactsAt: 7 })
    const second = chosen(11, { deny: ['eve'] })
    expect(inputs.learn(BOB, { privacy: second, contactsAt: 6 })).toBe(true)
    expect(inputs.of(BOB)).toEqual({ privacy: second, contactsAt: 7 })
  })

  test('[S6] a message from before any choice takes nothing back', () => {
    const inputs = createInputTable()
    const privacy = chosen(10, { statusVisibility: 'nobody' })
    inputs.learn(BOB, { privacy, contactsAt: 5 })
    expect(inputs.learn(BOB, UNRESTRICTED)).toBe(false)
    expect(inputs.of(BOB)).toEqual({ privacy, contactsAt: 5 })
  })

  test('[S6] the value stays the same object while nothing changes: decisions are compared by it', () => {
    const inputs = createInputTable()
    inputs.learn(BOB, { privacy: chosen(10), contactsAt: 5 })
    const known = inputs.of(BOB)
    inputs.learn(BOB, { privacy: chosen(10), contactsAt: 4 })
    inputs.replace(BOB, { privacy: chosen(10), contactsAt: 5 })
    expect(inputs.of(BOB)).toBe(known)
  })

  test('[S6] replacing takes the inputs as they are, older too, and unrestricted ones leave no entry', () => {
    const inputs = createInputTable()
    inputs.learn(BOB, { privacy: chosen(10), contactsAt: 5 })
    const older = { privacy: chosen(3), contactsAt: 2 }
    expect(inputs.replace(BOB, older)).toBe(true)
    expect(inputs.of(BOB)).toEqual(older)
    expect(inputs.replace(BOB, { privacy: null, contactsAt: 0 })).toBe(true)
    expect(inputs.replace(BOB, UNRESTRICTED)).toBe(false)
    expect(inputs.of(BOB)).toBe(UNRESTRICTED)
  })

  test('[S6] forgetting concerns one user only', () => {
    const inputs = createInputTable()
    for (const user of [BOB, BOB + 1]) inputs.learn(user, { privacy: chosen(10), contactsAt: 0 })
    inputs.forget(BOB)
    expect(inputs.of(BOB)).toBe(UNRESTRICTED)
    expect(inputs.of(BOB + 1).privacy?.setAt).toBe(10)
    // The next user with the number begins with nothing, so older inputs are new.
    expect(inputs.learn(BOB, { privacy: chosen(1), contactsAt: 0 })).toBe(true)
  })

  test('[S6, P20] after any messages in any order the newest of each part is known', () => {
    const message = fc.record({ setAt: fc.nat(5), contactsAt: fc.nat(5) })
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 12 }), (messages) => {
        const inputs = createInputTable()
        for (const { setAt, contactsAt } of messages) {
          const before = inputs.of(BOB)
          const isNewer = inputs.learn(BOB, { privacy: setAt === 0 ? null : chosen(setAt), contactsAt })
          expect(inputs.of(BOB) !== before).toBe(isNewer)
        }
        const newest = (pick: (message: { setAt: number; contactsAt: number }) => number) =>
          Math.max(...messages.map(pick))
        expect(inputs.of(BOB).privacy?.setAt ?? 0).toBe(newest(({ setAt }) => setAt))
        expect(inputs.of(BOB).contactsAt).toBe(newest(({ contactsAt }) => contactsAt))
      }),
    )
  })

  test('[S6, P20] of two choices of one instant the one that the record keeps is known', () => {
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
      const inputs = createInputTable()
      for (const privacy of order) inputs.learn(BOB, { privacy, contactsAt: 0 })
      expect(inputs.of(BOB).privacy).toEqual(kept)
    }
  })
})
