// Snapshots and changes in any order: shown versions never go back, the newest is shown in the end, and every
// difference is reported once.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import fc from 'fast-check'
import { createRoster } from './roster.ts'

const STATUSES = ['online', 'away', 'busy', 'offline'] as const

/** One object per version, with or without its last seen. */
const presence = fc
  .record({
    user_id: fc.constantFrom('ann', 'ben', '__proto__'),
    version: fc.nat({ max: 8 }),
    showsLastSeen: fc.boolean(),
  })
  .map(
    ({ user_id, version, showsLastSeen }): Presence => ({
      user_id,
      status: version === 0 ? 'offline' : STATUSES[version % 4]!,
      last_seen: version === 0 || !showsLastSeen ? null : version,
      custom_status: null,
      devices: [],
      version,
    }),
  )

const step = fc.oneof(
  { weight: 4, arbitrary: fc.array(presence, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant('stale' as const) },
)

describe('a roster', () => {
  test('[W9] in any order of updates, no shown version is replaced by an older one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const roster = createRoster()
        const shownVersions = new Map<string, number>()
        for (const incoming of steps) {
          const changes = incoming === 'stale' ? roster.markStale() : roster.apply(incoming)
          for (const { person } of changes) {
            const before = shownVersions.get(person.user_id) ?? 0
            // Version 0 replaces every version, and every version replaces it.
            expect(person.version === 0 || person.version >= before).toBe(true)
            shownVersions.set(person.user_id, person.version)
          }
        }
      }),
    )
  })

  test('[W9] the newest version is shown completely and not stale', () => {
    fc.assert(
      fc.property(fc.array(presence, { maxLength: 20 }), presence, (before, newest) => {
        const roster = createRoster()
        roster.apply(before)
        roster.markStale()
        const incoming = { ...newest, version: newest.version + 100 }
        roster.apply([incoming])
        expect(roster.get(incoming.user_id)).toEqual({ ...incoming, stale: false })
      }),
    )
  })

  test('[P34] the same version may show more or less, and version 0 replaces every version', () => {
    const roster = createRoster()
    const ann: Presence = {
      user_id: 'ann',
      status: 'online',
      last_seen: 5,
      custom_status: null,
      devices: ['web'],
      version: 7,
    }
    roster.apply([ann])
    roster.apply([{ ...ann, last_seen: null }])
    expect(roster.get('ann')?.last_seen).toBeNull()
    roster.apply([{ ...ann, version: 6 }])
    expect(roster.get('ann')).toMatchObject({ version: 7, last_seen: null })
    roster.apply([{ ...ann, status: 'offline', last_seen: null, devices: [], version: 0 }])
    expect(roster.get('ann')).toMatchObject({ version: 0, status: 'offline' })
    roster.apply([{ ...ann, version: 3 }])
    expect(roster.get('ann')).toMatchObject({ version: 3, status: 'online' })
  })

  test('[X3] a change is reported exactly when the object is another one, with the one before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const roster = createRoster()
        const shown = new Map(roster.people().map((person) => [person.user_id, person]))
        for (const incoming of steps) {
          const changes = incoming === 'stale' ? roster.markStale() : roster.apply(incoming)
          for (const { person, before } of changes) {
            expect(before).toBe(shown.get(person.user_id)!)
            expect(person).not.toEqual(before!)
            shown.set(person.user_id, person)
          }
          for (const person of roster.people()) expect(person).toBe(shown.get(person.user_id)!)
        }
      }),
    )
  })

  test('[X3] stale is reported once, and the next answer ends it', () => {
    fc.assert(
      fc.property(fc.array(presence, { minLength: 1, maxLength: 9 }), (incoming) => {
        const roster = createRoster()
        roster.apply(incoming)
        const count = roster.people().length
        expect(roster.markStale()).toHaveLength(count)
        expect(roster.markStale()).toEqual([])
        expect(roster.people().every(({ stale }) => stale)).toBe(true)
        // As after a reconnect without changes.
        expect(roster.apply(roster.people())).toHaveLength(count)
        expect(roster.people().some(({ stale }) => stale)).toBe(false)
      }),
    )
  })
})
