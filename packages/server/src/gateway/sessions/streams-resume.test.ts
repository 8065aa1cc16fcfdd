// The event ids of streams: an id names the versions that the viewer was told, never more, and a stream that
// resumes from it gets only what changed since.
import { afterEach, describe, expect, test } from 'bun:test'
import { type Reading, readerOf, versionOf } from '../../../../../testing/e2e/stream-format.ts'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
} from '../../../../../testing/worlds/gateway-world.ts'
import { OPEN_RULES } from '../../../../../testing/worlds/records.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import type { StreamRequest } from './streams.ts'

const ID_EVERY_MS = 5_000
const CHECK_EVERY_MS = 1_000

let world: GatewayWorld
let clock: GatewayWorld['clock']
async function begin(rules: PrivacyRules = OPEN_RULES): Promise<void> {
  world = await createGatewayWorld({ rules })
  clock = world.clock
}
afterEach(() => world.close())

const ASKED: StreamRequest = {
  userId: 'alice',
  tokenExpiresAt: null,
  tokenIssuedAt: null,
  userIds: ['bob'],
  lastEventId: null,
}

async function read(request: Partial<StreamRequest> = {}, isEager = true): Promise<Reading> {
  const opened = await world.done(world.streams.open({ ...ASKED, ...request }))
  if (!opened.ok) throw new Error(opened.failure.code)
  return readerOf(opened.body, isEager)
}

describe('an id without an event', () => {
  test('[W9] comes within six seconds of a change, and not without one', async () => {
    await begin()
    const reading = await read()
    await clock.advance(60_000)
    expect(reading.idsAlone).toEqual([])
    await world.setText('bob', 'one')
    await world.setText('bob', 'two')
    await clock.advance(ID_EVERY_MS + CHECK_EVERY_MS)
    expect(reading.idsAlone).toEqual([versionOf(reading, 'bob').toString(36)])
    await clock.advance(60_000)
    expect(reading.idsAlone).toHaveLength(1)
  })

  test('[W9] never names a version that was not told yet', async () => {
    await begin()
    const reading = await read({}, false)
    for (let n = 0; n < 20; n++) {
      await world.setText('bob', `text ${n}`)
      await clock.advance(1_000)
    }
    reading.start()
    await clock.advance(60_000)
    expect(reading.texts('bob').at(-1)).toBe('text 19')
    expect(reading.idsAlone).toEqual([versionOf(reading, 'bob').toString(36)])
  })

  test('[W9] nor one that is held while a contact list is looked up', async () => {
    await begin({ defaultVisibility: 'contacts', hiddenAs: 'offline' })
    await world.editContacts('bob', ['alice'])
    await world.setText('bob', 'before')
    const reading = await read()
    await clock.advance(0)
    expect(reading.texts('bob')).toEqual(['before'])
    const openGate = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await world.setText('bob', 'after')
    await clock.advance(ID_EVERY_MS + 2 * CHECK_EVERY_MS)
    expect(reading.texts('bob')).toEqual(['before'])
    await reading.cancel()
    openGate()
    const resumed = await read({ lastEventId: reading.lastEventId() })
    await clock.advance(FLUSH_MS)
    expect(resumed.texts('bob')).toEqual(['after'])
  })

  test('[W1] does not come during a long look-up, but comments do', async () => {
    await begin({ defaultVisibility: 'contacts', hiddenAs: 'offline' })
    await world.editContacts('bob', ['alice'])
    const reading = await read()
    world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await clock.advance(60_000)
    expect(reading.comments()).toBeGreaterThan(2)
  })
})

describe('a stream that resumes', () => {
  test('[W9] is told only what changed since, and then has the id of what it was told', async () => {
    await begin()
    const userIds = ['bob', 'carol', 'unknown']
    for (const userId of ['bob', 'carol']) await world.setText(userId, 'one')
    const first = await read({ userIds })
    await clock.advance(0)
    await first.cancel()
    await world.setText('carol', 'two')
    const second = await read({ userIds, lastEventId: first.lastEventId() })
    await clock.advance(0)
    expect([second.texts('bob'), second.texts('carol'), second.texts('unknown')]).toEqual([[], ['two'], []])
    const third = await read({ userIds, lastEventId: second.lastEventId() })
    await clock.advance(0)
    expect(third.frames).toEqual([
      { frame: { type: 'presence_state', states: [] }, id: second.lastEventId() },
    ])
  })

  test('[W9] with an id that is malformed or of other users starts from the beginning', async () => {
    await begin()
    await world.setText('bob', 'one')
    await world.setText('carol', 'one')
    const first = await read({ userIds: ['bob', 'carol'] })
    await clock.advance(0)
    await first.cancel()
    const [bob, carol] = first.lastEventId().split('.') as [string, string]
    const wrong = [
      '',
      '.',
      bob,
      `${bob}.${carol}.`,
      `.${bob}.${carol}`,
      `${bob}.${carol}.0`,
      `${bob},${carol}`,
      `${bob}.-${carol}`,
      `${bob}.${carol.toUpperCase()}!`,
      `${bob}. ${carol}`,
      `${bob}.${'z'.repeat(12)}`,
      `${bob}.NaN`,
      '1.5.2',
      '__proto__.x',
      `${carol}1.${bob}1`,
    ]
    for (const lastEventId of wrong) {
      const reading = await read({ userIds: ['bob', 'carol'], lastEventId })
      await clock.advance(0)
      expect([lastEventId, reading.texts('bob'), reading.texts('carol')]).toEqual([
        lastEventId,
        ['one'],
        ['one'],
      ])
      await reading.cancel()
    }
  })

  test('[W9] is told users with privacy settings again', async () => {
    await begin()
    await world.setText('bob', 'one')
    await world.choose('bob', { lastSeenVisibility: 'nobody' })
    const first = await read()
    await clock.advance(0)
    const second = await read({ lastEventId: first.lastEventId() })
    await clock.advance(0)
    expect(second.texts('bob')).toEqual(['one'])
  })

  test('[W9, S6] has version 0 for hidden users, and is told of them once they are visible', async () => {
    await begin()
    await world.setText('bob', 'one')
    await world.choose('bob', { statusVisibility: 'nobody' })
    const first = await read()
    await clock.advance(0)
    expect(first.lastEventId()).toBe('0')
    await world.setText('bob', 'two')
    await clock.advance(ID_EVERY_MS + CHECK_EVERY_MS)
    expect([first.idsAlone, first.frames.length]).toEqual([[], 1])
    await first.cancel()
    const hidden = await read({ lastEventId: '0' })
    await world.choose('bob', { statusVisibility: 'everyone' })
    await clock.advance(FLUSH_MS)
    expect(hidden.texts('bob')).toEqual(['two'])
  })
})
