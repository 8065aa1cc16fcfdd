// Snapshots and changes in any order and number: what is shown never goes back, ends at the newest, and
// is told of exactly when it is different.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import fc from 'fast-check'
import { createRoster } from './roster.ts'

const STATUSES = ['online', 'away', 'busy', 'offline'] as const

/** What a server could say: one object per version, but more or less of its last seen. */
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

const telling = fc.oneof(
  { weight: 4, arbitrary: fc.array(presence, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constant('doubt' as const) },
)

describe('a roster', () => {
  test('[W9] whatever comes in whichever order, nobody is shown older than they were', () => {
    fc.assert(
      fc.property(fc.array(telling, { maxLength: 30 }), (tellings) => {
        const roster = createRoster()
        const shownVersions = new Map<string, number>()
        for (const told of tellings) {
          const changes = told === 'doubt' ? roster.markStale() : roster.apply(told)
          for (const { person } of changes) {
            const before = shownVersions.get(person.user_id) ?? 0
            // Nothing known wins over everything, and everything wins over it.
            expect(person.version === 0 || person.version >= before).toBe(true)
            shownVersions.set(person.user_id, person.version)
          }
        }
      }),
    )
  })

  test('[W9] after the newest has come, that is what is shown, whole and fresh', () => {
    fc.assert(
      fc.property(fc.array(presence, { maxLength: 20 }), presence, (before, newest) => {
        const roster = createRoster()
        roster.apply(before)
        roster.markStale()
        const told = { ...newest, version: newest.version + 100 }
        roster.apply([told])
        expect(roster.get(told.user_id)).toEqual({ ...told, stale: false })
      }),
    )
  })

  test('[P34] the same version may show more or less, and version 0 shows nothing', () => {
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

  test('[X3] a change is told of exactly when the object is another one, with the one before it', () => {
    fc.assert(
      fc.property(fc.array(telling, { maxLength: 30 }), (tellings) => {
        const roster = createRoster()
        const shown = new Map(roster.people().map((person) => [person.user_id, person]))
        for (const told of tellings) {
          const changes = told === 'doubt' ? roster.markStale() : roster.apply(told)
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

  test('[X3] doubt is told of once, and the first answer ends it', () => {
    fc.assert(
      fc.property(fc.array(presence, { minLength: 1, maxLength: 9 }), (told) => {
        const roster = createRoster()
        roster.apply(told)
        const count = roster.people().length
        expect(roster.markStale()).toHaveLength(count)
        expect(roster.markStale()).toEqual([])
        expect(roster.people().every(({ stale }) => stale)).toBe(true)
        // As the answer to a reconnect that found everything as it was.
        expect(roster.apply(roster.people())).toHaveLength(count)
        expect(roster.people().some(({ stale }) => stale)).toBe(false)
      }),
    )
  })
})
