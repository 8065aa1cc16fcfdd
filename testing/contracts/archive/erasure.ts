// The archive contract, fifth part: erasure removes all data of one user, and of no other.
import { describe, expect, test } from 'bun:test'
import type { Archive } from '../../../packages/server/src/archive/port.ts'
import { NO_PRIVACY_CHOSEN } from '../../../packages/server/src/presence/core/privacy.ts'
import { SOME_INSTANT as T } from '../../worlds/records.ts'
import { aLastSeen, someSettings } from './rows.ts'

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
      await archive().erase('unknown')
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

    test('[X6] a user whose erasure has begun is unknown to every read until it has ended', async () => {
      const people = ['ann', 'anna']
      await archive().writeLastSeen(people.map((id) => aLastSeen(id, { status: 'here' })))
      await archive().writeSettings(people.map(settingsOf))
      for (const id of people) await archive().addContacts(id, ['anna', 'bob'], T)
      await archive().addContacts('bob', ['anna'], T)
      await archive().beginErasure('anna', T)

      const ann = { lastSeen: aLastSeen('ann', { status: 'here' }), settings: settingsOf('ann') }
      const pairs = [
        { ownerId: 'ann', contactId: 'bob' },
        { ownerId: 'anna', contactId: 'bob' },
        { ownerId: 'bob', contactId: 'anna' },
      ]
      const seen = async () => ({
        rows: await archive().read(people),
        here: await archive().hereIds('', 10),
        lists: [await archive().contactsOf('anna'), await archive().contactsOf('anna', 1)],
        json: await archive().contactsJson('anna'),
        contacts: await archive().areContacts(pairs),
        owners: [await archive().ownersOf('anna', '', 10), await archive().ownersOf('bob', '', 10)],
        named: await archive().namedBy('bob', '', 10),
      })
      const hidden = {
        rows: [ann, NOTHING],
        here: ['ann'],
        lists: [[], []],
        json: '[]',
        contacts: [true, false, false],
        owners: [[], ['ann']],
        named: ['ann'],
      }
      expect(await seen()).toEqual(hidden)
      // What is left to be erased can still be found.
      expect(await archive().ownersOfErased('anna', '', 10)).toEqual(['ann', 'bob'])
      expect(await archive().contactsOf('bob')).toEqual(['anna'])
      await archive().erase('anna')
      expect(await seen()).toEqual(hidden)
      await archive().endErasure('anna', T)
      expect(await seen()).toEqual(hidden)
      const back = aLastSeen('anna')
      await archive().writeLastSeen([back])
      expect((await archive().read(['anna']))[0]).toEqual({ lastSeen: back, settings: null })
    })

    test('[X6] an erasure is unfinished from its beginning to its end; one begun again is newer', async () => {
      const unfinished = (begunBefore = T + 1_000) => archive().unfinishedErasures(begunBefore, 10)
      expect(await unfinished()).toEqual([])
      await archive().beginErasure('bob', T + 2)
      await archive().beginErasure('anna', T + 2)
      await archive().beginErasure('zoe', T + 1)
      expect(await unfinished()).toEqual(['zoe', 'anna', 'bob'])
      expect(await unfinished(T + 2)).toEqual(['zoe'])
      expect(await archive().unfinishedErasures(T + 1_000, 2)).toEqual(['zoe', 'anna'])

      expect(await archive().resumeErasure('zoe', T + 5)).toBe(true)
      expect(await archive().resumeErasure('never', T + 5)).toBe(false)
      // Late and out of order.
      await archive().beginErasure('zoe', T + 3)
      await archive().endErasure('zoe', T + 1)
      await archive().endErasure('bob', T + 2)
      await archive().endErasure('never', T)
      expect(await unfinished()).toEqual(['anna', 'zoe'])
      expect(await archive().migrate()).toEqual([])
      expect(await unfinished(T + 5)).toEqual(['anna'])
      await archive().endErasure('zoe', T + 5)
      await archive().beginErasure('anna', T + 9)
      await archive().endErasure('anna', T + 9)
      expect(await unfinished()).toEqual([])
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
