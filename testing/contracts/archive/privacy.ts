// The archive contract, fourth part: privacy settings. They are read back completely, however long the lists
// are, and the users named in them can be found.
import { describe, expect, test } from 'bun:test'
import type { Archive } from '../../../packages/server/src/archive/port.ts'
import { LISTED_MAX, type PrivacySetting } from '../../../packages/server/src/presence/core/privacy.ts'
import { SOME_INSTANT as T } from '../../worlds/records.ts'
import { aLastSeen, ODD_IDS, someSettings } from './rows.ts'

const ID_BYTES_MAX = 128
/** Users with full lists, more than one read takes. */
const FULL_LISTS = 12
/** Users with short lists, more than one scan takes. */
const SHORT_LISTS = 2_500

const aPrivacy = (fields: Partial<PrivacySetting> = {}): PrivacySetting => ({
  statusVisibility: 'contacts',
  lastSeenVisibility: null,
  reciprocal: true,
  lastSeenPrecision: 'approximate',
  allow: [],
  deny: [],
  setAt: T,
  ...fields,
})

const fullList = (letter: string) =>
  Array.from({ length: LISTED_MAX }, (_, n) => `${letter}${n}`.padEnd(ID_BYTES_MAX, '-'))

export function checkArchivePrivacy(archive: () => Archive): void {
  const write = (userId: string, privacy: PrivacySetting | null) =>
    archive().writeSettings([someSettings(userId, { privacy })])
  const privacyOf = async (userId: string) => (await archive().read([userId]))[0]!.settings?.privacy

  describe('privacy', () => {
    test('[S5] is read back as written, with other settings or alone', async () => {
      const rows = [
        someSettings('alone', { privacy: aPrivacy({ allow: ODD_IDS, deny: ODD_IDS.toReversed() }) }),
        someSettings('default', { privacy: aPrivacy({ statusVisibility: null, reciprocal: false }) }),
        someSettings('beside', {
          availability: { status: 'busy', expiresAt: null, setAt: T + 5 },
          privacy: aPrivacy({ lastSeenVisibility: 'nobody', lastSeenPrecision: 'exact', setAt: 0 }),
        }),
      ]
      await archive().writeSettings(rows)
      const read = await archive().read(rows.map((row) => row.userId))
      expect(read.map((user) => user.settings)).toEqual(rows)
    })

    test('[S5] full lists of the longest ids are read back completely, for many users at once', async () => {
      const rows = Array.from({ length: FULL_LISTS }, (_, n) =>
        someSettings(`full-${n}`, {
          awayAfter: { awayAfterMs: n, setAt: T },
          privacy: aPrivacy({ allow: fullList('a'), deny: fullList('d'), setAt: T + n }),
        }),
      )
      const short = someSettings('short', { privacy: aPrivacy({ allow: ['bob'] }) })
      const seen = aLastSeen('full-3')
      await archive().writeSettings([...rows, short])
      await archive().writeLastSeen([seen])
      const all = [...rows, short]
      const read = await archive().read([...all.map((row) => row.userId), 'unknown'])
      expect(read).toEqual([
        ...all.map((settings) => ({ lastSeen: settings.userId === 'full-3' ? seen : null, settings })),
        { lastSeen: null, settings: null },
      ])
    })

    test('[S5] the newest setting wins, and a row without privacy leaves it', async () => {
      const newest = aPrivacy({ deny: ['mallory'], setAt: T + 2 })
      await write('a', newest)
      await write('a', aPrivacy({ deny: ['trudy'], setAt: T + 1 }))
      await write('a', null)
      expect(await privacyOf('a')).toEqual(newest)
      await write('a', aPrivacy({ setAt: T + 3 }))
      expect(await privacyOf('a')).toEqual(aPrivacy({ setAt: T + 3 }))
    })

    test('[S5] of two settings of one instant the same one wins in either order', async () => {
      const [one, other] = [aPrivacy({ allow: ['x'] }), aPrivacy({ allow: ['y'] })]
      await write('a', one)
      await write('a', other)
      await write('b', other)
      await write('b', one)
      expect(await privacyOf('a')).toEqual(await privacyOf('b'))
    })
  })

  describe('a user named in the privacy lists of others', () => {
    test('[X6] is found in either list, page by page', async () => {
      await write('c', aPrivacy({ allow: ['x', 'mallory'] }))
      await write('a', aPrivacy({ deny: ['mallory'] }))
      await write('b', aPrivacy({ allow: ['mallory'], deny: ['mallory'] }))
      await write('other', aPrivacy({ allow: ['alice'], deny: ['bob'] }))
      await write('none', null)
      expect(await archive().namedBy('mallory', '', 2)).toEqual(['a', 'b'])
      expect(await archive().namedBy('mallory', 'b', 2)).toEqual(['c'])
      expect(await archive().namedBy('mallory', 'c', 2)).toEqual([])
      await write('b', aPrivacy({ setAt: T + 1 }))
      expect(await archive().namedBy('mallory', '', 10)).toEqual(['a', 'c'])
    })

    test('[X6] is not confused with similar ids or with words of the setting', async () => {
      await write('odd', aPrivacy({ allow: ODD_IDS }))
      await write('alike', aPrivacy({ deny: ['annabel', 'Anna', '"anna', 'x"anna"y', '\\anna'] }))
      for (const id of ODD_IDS) expect(await archive().namedBy(id, '', 10)).toEqual(['odd'])
      for (const id of ['anna', 'allow', 'deny', 'contacts', 'reciprocal', 'true', '[]', '"']) {
        expect(await archive().namedBy(id, '', 10)).toEqual([])
      }
      expect(await archive().namedBy('x"anna"y', '', 10)).toEqual(['alike'])
    })

    test('[X6] is found among thousands of others, and in full lists', async () => {
      await archive().writeSettings(
        Array.from({ length: SHORT_LISTS }, (_, n) =>
          someSettings(`short-${n}`, { privacy: aPrivacy({ deny: [`d${n % 1250}`] }) }),
        ),
      )
      for (let n = 0; n < FULL_LISTS; n++) await write(`full-${n}`, aPrivacy({ allow: fullList('a') }))
      expect(await archive().namedBy('d1249', '', 10)).toEqual(['short-1249', 'short-2499'])
      const owners = Array.from({ length: FULL_LISTS }, (_, n) => `full-${n}`).sort()
      const last = fullList('a').at(-1)!
      expect(await archive().namedBy(last, '', 100)).toEqual(owners)
      expect(await archive().namedBy(last, owners[3]!, 2)).toEqual(owners.slice(4, 6))
    })
  })
}
