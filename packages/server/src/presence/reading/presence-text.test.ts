// The JSON of a whole presence equals the presence object, for every kind of record.
import { expect, test } from 'bun:test'
import { OPEN_RULES } from '../../../../../testing/worlds/records.ts'
import { emptyRecord, type UserRecord } from '../core/record.ts'
import { sourceOf, toPresence } from '../core/view.ts'
import { createPresenceText } from './presence-text.ts'

const here: UserRecord = {
  ...emptyRecord(7),
  shown: {
    status: 'busy',
    since: 1,
    lastSeen: 2,
    customStatus: { text: 'In a "meeting"', emoji: '📅', expiresAt: 3 },
    devices: ['mobile', 'web'],
  },
}
const gone: UserRecord = { ...here, shown: { ...here.shown, status: 'offline', devices: [] } }

test('[R1] equals the presence object, for a present, an absent and an unknown user', () => {
  for (const hiddenAs of ['offline', null] as const) {
    const textOf = createPresenceText({ ...OPEN_RULES, hiddenAs })
    for (const record of [here, gone, emptyRecord(5)]) {
      const presence = { ...toPresence('bob', record, hiddenAs), source: sourceOf(record) }
      expect(textOf('bob', record)).toBe(JSON.stringify(presence))
      expect(textOf('bob', record)).toBe(JSON.stringify(presence))
    }
  }
})

test('[R1] a changed record has its own text', () => {
  const textOf = createPresenceText(OPEN_RULES)
  const before = textOf('bob', here)
  const after = textOf('bob', { ...here, version: 8 })
  expect(JSON.parse(before)).toMatchObject({ version: 7 })
  expect(JSON.parse(after)).toMatchObject({ version: 8 })
})
