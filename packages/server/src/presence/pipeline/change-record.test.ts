// What the change log says of a commit that changes what others are shown, who may see it, or both.
import { expect, test } from 'bun:test'
import { aRecord, aRecordOn, SOME_INSTANT as NOW } from '../../../../../testing/worlds/records.ts'
import type { UserRecord } from '../core/record.ts'
import { changeRecordOf } from './change-record.ts'

const before = aRecord({ settings: 'known' })
const arrived: UserRecord = { ...aRecordOn('gateway-1'), settings: 'known', version: before.version + 1 }
const recordOf = (after: UserRecord) => {
  const text = changeRecordOf({ userId: 'anna', before, after }, NOW)
  return text === undefined ? undefined : JSON.parse(text)
}

test('[X5] a commit says what changed: the status, the audience, or both in one record', () => {
  expect(recordOf(before)).toBeUndefined()
  expect(recordOf({ ...before, contactsAt: NOW })).toMatchObject({ type: 'visibility_changed' })
  expect(recordOf(arrived)).toMatchObject({ type: 'status_changed', new_status: 'online' })
  expect(recordOf(arrived)).not.toHaveProperty('audience_changed')
  expect(recordOf({ ...arrived, contactsAt: NOW })).toMatchObject({
    type: 'status_changed',
    audience_changed: true,
  })
})
