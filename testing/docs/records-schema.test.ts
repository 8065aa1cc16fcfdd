// The schema of records in JSON Schema allows what Greendot writes and what the document shows, and refuses records that
// would become dead letters for their fields.
import { describe, expect, test } from 'bun:test'
import {
  ACTIVITIES,
  CUSTOM_EMOJI_BYTES_MAX,
  CUSTOM_TEXT_CHARS_MAX,
  ID_BYTES_MAX,
  PLATFORMS,
  STATUSES,
} from '@greendot/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import schema from '../../packages/protocol/schema/records.schema.json' with { type: 'json' }
import { ANSWERED_ID_SCHEMA, INSTANT_MAX } from '../../packages/server/src/input/json-schema.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import type { PresenceEvent } from '../../packages/server/src/presence/core/event.ts'
import { changeRecordOf } from '../../packages/server/src/presence/pipeline/change-record.ts'
import { createDeadLetters } from '../../packages/server/src/streaming/dead-letters.ts'
import { encodeUpdate, readUpdate } from '../../packages/server/src/streaming/update-record.ts'
import { closed, connected, lost, say } from '../worlds/presence-user.ts'
import { aRecord, aRecordOn, SOME_INSTANT as NOW } from '../worlds/records.ts'
import { blocksOf } from './docs-text.ts'

const isRecord = new Ajv2020({ strictTypes: false }).compile(schema)
const isAllowed = (text: string): boolean => isRecord(JSON.parse(text))

test('[C3] it has the limits and words of the protocol', () => {
  const { id, instant, status, platform, activity, custom_status } = schema.$defs
  expect([id.maxLength, id.pattern]).toEqual([ID_BYTES_MAX, ANSWERED_ID_SCHEMA.pattern])
  expect(instant.maximum).toBe(INSTANT_MAX)
  expect([status.enum, platform.enum, activity.enum]).toEqual([
    [...STATUSES],
    [...PLATFORMS],
    [...ACTIVITIES],
  ])
  const { text, emoji } = custom_status.properties
  expect([text.maxLength, emoji.maxLength]).toEqual([CUSTOM_TEXT_CHARS_MAX, CUSTOM_EMOJI_BYTES_MAX])
})

describe('it allows', () => {
  test.each(['docs/streaming.md', 'docs/foreign-gateways.md'])('[C3] the records of %s', (path) => {
    const records = blocksOf(path, 'json').filter(({ text }) => 'type' in JSON.parse(text))
    expect(records.length).toBeGreaterThan(0)
    for (const { line, text } of records) expect([line, isAllowed(text)]).toEqual([line, true])
  })

  test('[C3] changes', () => {
    const before = aRecord({ settings: 'known' })
    const after = { ...aRecordOn('gateway-1'), settings: 'known' as const, version: before.version + 1 }
    for (const change of [
      { userId: 'anna', before, after },
      { userId: 'anna', before: after, after: { ...before, version: after.version + 1, contactsAt: NOW } },
    ])
      expect(isAllowed(changeRecordOf(change, NOW)!)).toBe(true)
  })

  test.each<PresenceEvent>([
    connected('web#1', NOW),
    closed('web#1', NOW),
    lost('web#1', NOW, NOW - 1),
    { type: 'user_left', at: NOW },
    { type: 'idle', at: NOW, ...sessionOf(connected('web#1', NOW)) } as PresenceEvent,
    say('at lunch', NOW, NOW + 1),
    { type: 'tick' },
  ])('[C3] an update with the event $type', (event) => {
    const update = { userId: 'bob', from: 'a-1', events: [event], isRepeated: false, ref: null, sentAt: NOW }
    expect(isAllowed(encodeUpdate(update))).toBe(true)
  })

  test('[C3] dead letters', async () => {
    const letters: string[] = []
    const dead = createDeadLetters(
      { append: async (entries) => void letters.push(...entries.map(({ text }) => text)) },
      'presence.updates',
      createLogger({ level: 'silent' }),
    )
    await dead.put(3, { userId: null, text: '\0'.repeat(70_000), offset: '17' }, 'this is no JSON')
    expect(letters.map(isAllowed)).toEqual([true])
  })
})

test('[C3] it refuses a record of a foreign gateway whose fields make it a dead letter', () => {
  const good = {
    type: 'heartbeat',
    gateway_id: 'chat-1',
    user_id: 'bob',
    device_id: 'd1',
    activity: 'active',
  }
  const outcomeOf = (fields: object) => {
    const text = JSON.stringify({ ...good, ...fields })
    return [isAllowed(text), readUpdate({ userId: 'bob', text }).kind]
  }
  expect(outcomeOf({})).toEqual([true, 'foreign'])
  for (const fields of [
    { type: 'heart_beat' },
    { v: 2 },
    { user_id: 'a b' },
    { user_id: '' },
    { gateway_id: 'a,b' },
    { device_id: undefined },
    { device_id: 7 },
    { platform: 'fridge' },
    { activity: 'asleep' },
    { activity: null },
    { at: 0.5 },
    { at: 1e300 },
  ])
    expect([fields, ...outcomeOf(fields)]).toEqual([fields, false, 'unreadable'])
})

function sessionOf({ type, ...session }: PresenceEvent): object {
  return session
}
