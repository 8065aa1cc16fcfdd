// The archive contract, fifth part: erasure removes all data of one user, and of no other.
import { describe, expect, test } from 'bun:test'
import type { Archive } from '../../packages/server/src/archive/port.ts'
import { NO_PRIVACY_CHOSEN } from '../../packages/server/src/presence/core/privacy.ts'
import { SOME_INSTANT as T } from '../worlds/records.ts'
import { aLastSeen, someSettings } from './archive-rows.ts'

/** More than one transaction erases. */
const OWNERS = 600
const CONTACTS = 2_000

const NOTHING = { lastSeen: null, settings: null }

const settingsOf = (userId: string) =>
  someSettings(userId, {
    availability: { status: 'busy', expiresAt: null, setAt: T },
    privacy: { ...NO_PRIVACY_CHOSEN, allow: ['bob'], setAt: T },
  })

export function checkArchiveErasure(archive: () => Archive): void {
  describe('erasure', () => {
    test('[X6] removes all data of the user, and nothing of other users', async () => {
      const people = ['ann', 'anna', 'annabel']
      await archive().writeLastSeen(people.map((id) => aLastSeen(id, { status: 'here' })))
      await archive().writeSettings(people.map(settingsOf))
      for (const id of people) {
        await archive().addContacts(id, ['anna', 'bob', 'ann'], T)
        await archive().addContacts('bob', [id], T)
      }
      await archive().erase('anna')

      const kept = (userId: string) => ({
        lastSeen: aLastSeen(userId, { status: 'here' }),
        settings: settingsOf(userId),
      })
      expect(await archive().read(people)).toEqual([kept('ann'), NOTHING, kept('annabel')])
      expect(await archive().hereIds('', 10)).toEqual(['ann', 'annabel'])
      expect(await archive().contactsOf('anna')).toEqual([])
      expect(await archive().ownersOf('anna', '', 10)).toEqual([])
      expect(await archive().contactsOf('ann')).toEqual(['ann', 'bob'])
      expect(await archive().contactsOf('bob')).toEqual(['ann', 'annabel'])
      expect(await archive().namedBy('bob', '', 10)).toEqual(['ann', 'annabel'])
    })

    test('[X6] is idempotent, does not prevent a return, and accepts unknown users', async () => {
      await archive().erase('nobody')
      await archive().writeLastSeen([aLastSeen('anna', { version: 9 })])
      await archive().writeSettings([settingsOf('anna')])
      await archive().erase('anna')
      await archive().erase('anna')
      // Older than the erased row, and still accepted.
      const back = aLastSeen('anna', { version: 1 })
      await archive().writeLastSeen([back])
      await archive().writeSettings([someSettings('anna')])
      expect(await archive().read(['anna'])).toEqual([{ lastSeen: back, settings: someSettings('anna') }])
    })

    test('[X6] works for long lists, also for two users at once who list each other', async () => {
      const owners = Array.from({ length: OWNERS }, (_, n) => `owner-${n}`)
      const contacts = Array.from({ length: CONTACTS }, (_, n) => `contact-${n}`)
      await Promise.all(owners.map((id) => archive().addContacts(id, ['anna', 'bob', 'carol'], T)))
      await archive().addContacts('anna', ['bob', ...contacts], T)
      await archive().addContacts('bob', ['anna', ...contacts], T)
      await Promise.all([archive().erase('anna'), archive().erase('bob')])

      for (const id of ['anna', 'bob']) {
        expect(await archive().contactsOf(id)).toEqual([])
        expect(await archive().ownersOf(id, '', 10)).toEqual([])
      }
      expect(await archive().contactsOf('owner-7')).toEqual(['carol'])
      expect(await archive().ownersOf('carol', '', 1000)).toEqual(owners.toSorted())
    })
  })
}
