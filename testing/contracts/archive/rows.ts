// The archive contract, first part: rows of a user are read back as written, and after a crash every user
// who was here has a last seen.
import { describe, expect, test } from 'bun:test'
import type { Archive, LastSeenRow, SettingsRow } from '../../../packages/server/src/archive/port.ts'
import { SOME_INSTANT as T } from '../../worlds/records.ts'

/** More than any adapter puts in one statement. */
const BATCH_SIZE = 3_000

/** Valid ids that a careless adapter would get wrong. */
export const ODD_IDS = [
  'a',
  'A',
  '0',
  '123',
  'null',
  '__proto__',
  "o'neil",
  '"quoted"',
  '%_\\',
  '$1',
  'zoë',
  '用户',
  '👩🏽‍🚀',
]

export function aLastSeen(userId: string, fields: Partial<LastSeenRow> = {}): LastSeenRow {
  return {
    userId,
    lastSeenAt: T,
    status: 'offline',
    devices: [],
    version: 1,
    shownCustomStatus: null,
    updatedAt: T,
    ...fields,
  }
}

export function someSettings(userId: string, fields: Partial<SettingsRow> = {}): SettingsRow {
  return {
    userId,
    availability: null,
    customStatus: null,
    awayAfter: null,
    privacy: null,
    history: null,
    ...fields,
  }
}

export function checkArchiveRows(archive: () => Archive): void {
  const lastSeenOf = async (userId: string) => (await archive().read([userId]))[0]!.lastSeen
  const settingsOf = async (userId: string) => (await archive().read([userId]))[0]!.settings

  describe('reading', () => {
    test('[R2] answers in the order of the ids, with null for unknown users and repeats for repeats', async () => {
      const a = aLastSeen('a')
      const b = someSettings('b', { awayAfter: { awayAfterMs: 60_000, setAt: T } })
      await archive().writeLastSeen([a])
      await archive().writeSettings([b])

      expect(await archive().read(['b', 'unknown', 'a', 'b'])).toEqual([
        { lastSeen: null, settings: b },
        { lastSeen: null, settings: null },
        { lastSeen: a, settings: null },
        { lastSeen: null, settings: b },
      ])
      expect(await archive().read([])).toEqual([])
    })

    test('[S4] a last-seen row is read back as written', async () => {
      const rows = [
        aLastSeen('never', { lastSeenAt: null, version: 0 }),
        aLastSeen('here', { status: 'here', version: Number.MAX_SAFE_INTEGER }),
        aLastSeen('text', {
          shownCustomStatus: { text: 'In a "meeting"\n📅', emoji: null, expiresAt: null },
        }),
        aLastSeen('emoji', { shownCustomStatus: { text: null, emoji: '👩🏽‍🚀', expiresAt: T + 1 } }),
      ]
      await archive().writeLastSeen(rows)
      const read = await archive().read(rows.map((row) => row.userId))
      expect(read.map((user) => user.lastSeen)).toEqual(rows)
    })

    test('[S1] [S3] [D4] settings are read back as written, each part by itself', async () => {
      const rows = [
        someSettings('nothing'),
        someSettings('availability', { availability: { status: 'busy', expiresAt: T + 1, setAt: T } }),
        someSettings('custom', { customStatus: { text: "it's 5'", emoji: '☕', expiresAt: null, setAt: T } }),
        someSettings('cleared', { customStatus: { text: null, emoji: null, expiresAt: null, setAt: T } }),
        someSettings('away', { awayAfter: { awayAfterMs: 1, setAt: T } }),
        someSettings('default', { awayAfter: { awayAfterMs: null, setAt: 0 } }),
      ]
      await archive().writeSettings(rows)
      const read = await archive().read(rows.map((row) => row.userId))
      expect(read.map((user) => user.settings)).toEqual(rows)
    })

    test('[S4] every valid id is a distinct key', async () => {
      const rows = [...ODD_IDS, 'x'.repeat(128)].map((id, index) => aLastSeen(id, { version: index }))
      await archive().writeLastSeen(rows)
      const read = await archive().read(rows.map((row) => row.userId))
      expect(read.map((user) => user.lastSeen)).toEqual(rows)
    })

    test('[S4] [R1] accepts batches of any size', async () => {
      const lastSeen = Array.from({ length: BATCH_SIZE }, (_, i) => aLastSeen(`user-${i}`, { version: i }))
      const settings = lastSeen.map(({ userId, version }) =>
        someSettings(userId, { awayAfter: { awayAfterMs: version, setAt: T } }),
      )
      await Promise.all([archive().writeLastSeen(lastSeen), archive().writeSettings(settings)])
      expect(await archive().read(lastSeen.map((row) => row.userId))).toEqual(
        lastSeen.map((row, index) => ({ lastSeen: row, settings: settings[index]! })),
      )
      await archive().writeLastSeen([])
      await archive().writeSettings([])
    })

    test('[S3] a text that no database can store does not make its batch fail', async () => {
      const odd = { text: 'a\0b\uD800', emoji: null, expiresAt: null }
      await archive().writeLastSeen([aLastSeen('odd', { shownCustomStatus: odd }), aLastSeen('even')])
      expect((await lastSeenOf('odd'))?.shownCustomStatus?.text).toBe('ab\uFFFD')
      expect(await lastSeenOf('even')).toEqual(aLastSeen('even'))
    })
  })

  describe('the newest wins', () => {
    test('[S4] an older version changes nothing, even when it is written later', async () => {
      const newest = aLastSeen('a', { version: 7, lastSeenAt: T + 7, updatedAt: T })
      expect(await archive().writeLastSeen([newest])).toBe(1)
      const older = aLastSeen('a', { version: 6, updatedAt: T + 99 })
      expect(await archive().writeLastSeen([older, aLastSeen('b')])).toBe(1)
      expect(await lastSeenOf('a')).toEqual(newest)
    })

    test('[S4] of two rows with one version the later write wins', async () => {
      const later = aLastSeen('a', { lastSeenAt: T + 5, updatedAt: T + 5 })
      await archive().writeLastSeen([later])
      await archive().writeLastSeen([aLastSeen('a', { lastSeenAt: T + 9, updatedAt: T + 4 })])
      expect(await lastSeenOf('a')).toEqual(later)
    })

    test('[S4] one batch may name a user more than once', async () => {
      const newest = aLastSeen('a', { version: 3 })
      await archive().writeLastSeen([aLastSeen('a', { version: 2 }), newest, aLastSeen('a', { version: 1 })])
      expect(await lastSeenOf('a')).toEqual(newest)
    })

    test('[S1] [S3] each part of the settings wins or loses by itself', async () => {
      const busy = { status: 'busy', expiresAt: null, setAt: T + 2 } as const
      const lunch = { text: 'Lunch', emoji: null, expiresAt: null, setAt: T + 2 }
      await archive().writeSettings([
        someSettings('a', { availability: busy, customStatus: { ...lunch, text: 'old', setAt: T } }),
      ])
      await archive().writeSettings([
        someSettings('a', { availability: { ...busy, status: 'away', setAt: T + 1 }, customStatus: lunch }),
      ])
      expect(await settingsOf('a')).toEqual(someSettings('a', { availability: busy, customStatus: lunch }))
    })

    test('[S1] a part that is null leaves the stored one', async () => {
      const known = someSettings('a', {
        availability: { status: 'away', expiresAt: null, setAt: 0 },
        customStatus: { text: 'Lunch', emoji: null, expiresAt: null, setAt: 0 },
        awayAfter: { awayAfterMs: 60_000, setAt: 0 },
      })
      await archive().writeSettings([known])
      await archive().writeSettings([someSettings('a')])
      expect(await settingsOf('a')).toEqual(known)
    })
  })

  describe('after a crash', () => {
    test('[C7] remembers the latest instant at which the server was alive', async () => {
      expect(await archive().aliveAt()).toBeNull()
      await archive().markAlive(T)
      await archive().markAlive(T + 2)
      await archive().markAlive(T + 1)
      expect(await archive().aliveAt()).toBe(T + 2)
    })

    test('[S4] users marked as here are listed page by page', async () => {
      await archive().writeLastSeen([
        aLastSeen('c', { status: 'here' }),
        aLastSeen('a', { status: 'here', devices: [{ deviceId: 'd', platform: 'web', activity: 'idle' }] }),
        aLastSeen('gone'),
        aLastSeen('b', { status: 'here' }),
      ])
      expect(await archive().hereIds('', 2)).toEqual(['a', 'b'])
      expect(await archive().hereIds('b', 2)).toEqual(['c'])
      expect(await archive().hereIds('c', 2)).toEqual([])
      await archive().writeLastSeen([aLastSeen('b', { version: 99 })])
      expect(await archive().hereIds('', 10)).toEqual(['a', 'c'])
      const [user] = await archive().read(['a'])
      expect(user?.lastSeen?.devices).toEqual([{ deviceId: 'd', platform: 'web', activity: 'idle' }])
    })
  })
}
