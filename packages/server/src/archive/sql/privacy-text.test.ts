// How a privacy column is read: as written, with unknown fields of a newer release ignored, and hidden when it
// cannot be read completely.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Privacy, PrivacySetting } from '../../presence/core/privacy.ts'
import { createSqliteArchive } from '../sqlite.ts'
import { fromPrivacyText, toPrivacyText } from './privacy-text.ts'

const CHOSEN: PrivacySetting = {
  setAt: 5,
  deny: ['mallory'],
  allow: ['zoë', 'x"y'],
  lastSeenPrecision: 'exact',
  reciprocal: true,
  lastSeenVisibility: null,
  statusVisibility: 'everyone',
}

const HIDDEN: Privacy = {
  statusVisibility: 'nobody',
  lastSeenVisibility: 'nobody',
  reciprocal: false,
  lastSeenPrecision: 'approximate',
  allow: [],
  deny: [],
}

const ODD: [string, string][] = [
  ['no JSON', '{"statusVisibility":'],
  ['nothing', ''],
  ['null', 'null'],
  ['a text', '"everyone"'],
  ['a list', '[]'],
  ['no fields', '{}'],
  ['an unknown audience', JSON.stringify({ ...CHOSEN, statusVisibility: 'friends_of_friends' })],
  ['an unknown precision', JSON.stringify({ ...CHOSEN, lastSeenPrecision: 'to_the_hour' })],
  ['lists of something else', JSON.stringify({ ...CHOSEN, deny: [{ group: 'colleagues' }] })],
  ['no list', JSON.stringify({ ...CHOSEN, allow: 'everyone' })],
  ['a field too few', JSON.stringify({ ...CHOSEN, deny: undefined })],
]

test('[S5] what was written is read, without its instant, and equal choices are equal texts', () => {
  const { setAt: _, ...privacy } = CHOSEN
  expect(fromPrivacyText(toPrivacyText(CHOSEN))).toEqual(privacy)
  const inOtherOrder = Object.fromEntries(Object.entries({ ...CHOSEN, setAt: 6 }).reverse())
  expect(toPrivacyText(inOtherOrder as unknown as PrivacySetting)).toBe(toPrivacyText(CHOSEN))
})

test('[S5] fields of a newer release are passed over', () => {
  const { setAt: _, ...privacy } = CHOSEN
  expect(fromPrivacyText(JSON.stringify({ ...CHOSEN, hideDevices: true }))).toEqual(privacy)
})

test.each(ODD)('[S5] a user who has a setting with %s is hidden', (_, text) => {
  expect(fromPrivacyText(text)).toEqual(HIDDEN)
})

test('[S5] a setting that cannot be read does not stand in the way of the others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-privacy-'))
  const path = join(folder, 'privacy.db')
  const archive = await createSqliteArchive({ path })
  await archive.migrate()
  const row = { availability: null, customStatus: null, awayAfter: null, privacy: CHOSEN, history: null }
  await archive.writeSettings([
    { ...row, userId: 'odd' },
    { ...row, userId: 'even' },
  ])
  const newer = new Database(path)
  newer.run("UPDATE user_privacy SET privacy = 'mallory' WHERE user_id = 'odd'")
  newer.close()

  const [odd, even] = await archive.read(['odd', 'even'])
  expect(odd?.settings?.privacy).toEqual({ ...HIDDEN, setAt: CHOSEN.setAt })
  expect(even?.settings?.privacy).toEqual(CHOSEN)
  expect(await archive.namedBy('mallory', '', 10)).toEqual(['even'])
  // A choice that is made here is readable again.
  await archive.writeSettings([{ ...row, userId: 'odd', privacy: { ...CHOSEN, setAt: 6 } }])
  expect((await archive.read(['odd']))[0]?.settings?.privacy).toEqual({ ...CHOSEN, setAt: 6 })
  await archive.close()
  rmSync(folder, { recursive: true })
})
