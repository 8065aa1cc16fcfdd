// The tracker while it cannot be sure: the archive does not answer, or the store has just lost its memory. Users are
// neither shown by settings that could not be read nor taken to be gone.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { connected, left, say } from '../../../../../testing/worlds/presence-user.ts'
import type { PresenceEvent } from '../core/event.ts'
import type { Privacy } from '../core/privacy.ts'
import { emptyRecord, type UserRecord } from '../core/record.ts'
import { toOwnPresence } from '../core/view.ts'
import { Unavailable } from '../unavailable.ts'

let world: Pipeline
/** Holds look-ups in the archive. */
let archiveGate: Gate
/** Until then the store settles. */
let settlesAt: number

async function begin(earlier?: Pipeline): Promise<void> {
  ;[archiveGate, settlesAt] = [createGate(), 0]
  world = await createPipeline({
    ...(earlier && { earlier }),
    store: () => ({ settlesAt: () => settlesAt }),
    archive: (sqlite) => ({
      async read(userIds) {
        const users = await sqlite.read(userIds)
        await archiveGate.pass()
        return users
      },
    }),
  })
}

/** The store is empty and the archive is not. */
const restart = () => begin(world)

beforeEach(() => begin())

const now = () => world.clock.now()
/** Runs everything that can run, and lets a millisecond pass. */
const go = () => world.clock.advance(1)
const set = (change: Partial<Privacy>): PresenceEvent => ({ type: 'set_privacy', at: now(), change })

const apply = (userId: string, ...events: PresenceEvent[]) => world.outcomeOf(userId, ...events)

async function report(userId: string, event: PresenceEvent): Promise<void> {
  world.tracker.report(userId, event)
  await go()
}

/** The archive is not asked for this long after it failed. */
const PAUSE_MS = 1_000
/** After this time a sweeper asks again for settings that are unknown. */
const SWEPT_MS = 5_000

describe('while the store settles after it lost its memory', () => {
  const settlesInMs = 5_000

  beforeEach(async () => {
    await apply('bob', connected('web#1', now()))
    await world.clock.advance(10)
    await restart()
    settlesAt = now() + settlesInMs
  })

  test('[C7] a choice of a user who is connected elsewhere does not show the user as offline', async () => {
    await world.watch('bob')
    const said = await apply('bob', say('lunch', now()))
    await world.clock.advance(10)
    expect(said.record?.shown).toMatchObject({ status: 'online', customStatus: { text: 'lunch' } })
    expect(world.changes()).toMatchObject([{ status: 'online', devices: ['web'] }])
    // Its gateway announces the session again, and what was presumed of its device is over.
    const again = await apply('bob', connected('web#2', now(), { deviceId: 'device-web' }))
    expect(again.record?.sessions.map(({ deviceId }) => deviceId)).toEqual(['', 'device-web'])
  })

  test('[C7, B2] a user whose device leaves is not offline yet: another gateway may be about to announce one', async () => {
    await apply('bob', connected('web#2', now(), { deviceId: 'device-web' }))
    const gone = await apply('bob', left('web#2', now() + 1))
    expect(gone.record?.shown.status).toBe('away')
    await world.clock.advance(settlesInMs + world.policy.offlineDelayMs)
    const later = await apply('bob', { type: 'tick' })
    expect(later.record?.shown.status).toBe('offline')
  })

  test('[C7] a user whom no gateway announces goes offline once the store has settled', async () => {
    await apply('bob', say('lunch', now()))
    await world.clock.advance(settlesInMs + world.policy.offlineDelayMs)
    const later = await apply('bob', { type: 'tick' })
    expect(later.record?.shown.status).toBe('offline')
  })
})

describe('when the archive cannot be read', () => {
  const failure = new Error('the database is gone')

  beforeEach(async () => {
    await apply('bob', set({ deny: ['mallory'] }))
    await restart()
    archiveGate.close()
  })

  test('[C7, S6] a user connects all the same, and is not shown to others', async () => {
    await world.watch('bob')
    const came = await apply('bob', connected('web#1', now()))
    archiveGate.release(0, failure)
    await world.clock.advance(10)
    expect(came.record).toMatchObject({ settings: 'unknown', sessions: [{ id: 'web#1' }] })
    expect(toOwnPresence('bob', came.record!, now(), world.policy).status).toBe('online')
    expect([came.record?.shown.status, world.heard]).toEqual(['offline', []])
  })

  test('[S5, C7] the settings come back by themselves, and then the user is shown by them', async () => {
    await world.watch('bob')
    await apply('bob', connected('web#1', now()))
    archiveGate.release(0, failure)
    archiveGate.open()
    await world.clock.advance(SWEPT_MS)
    await world.done(world.dutySweep.sweep(0, now(), true))
    await world.clock.advance(10)
    expect(await world.stored('bob')).toMatchObject({ settings: 'known', privacy: { deny: ['mallory'] } })
    expect(world.heard).toMatchObject([{ kind: 'change', inputs: { privacy: { deny: ['mallory'] } } }])
    expect(world.changes()).toMatchObject([{ user_id: 'bob', status: 'online' }])
  })

  test('[D2] of a user with unknown settings only the end is told', async () => {
    await world.watch('bob')
    await apply('bob', connected('web#1', now()))
    archiveGate.release(0, failure)
    await world.clock.advance(10)
    await apply('bob', left('web#1', now()))
    expect(world.heard).toMatchObject([{ kind: 'gone', userId: 'bob' }])
  })

  test('[S4] a change that merges into stored settings is refused, and the next one is looked up', async () => {
    const first = await apply('bob', set({ reciprocal: true }))
    archiveGate.release(0, failure)
    await go()
    expect([first.record, first.error]).toEqual([null, expect.any(Unavailable)])
    // It is not asked for a moment.
    const refused = await apply('bob', set({ allow: ['ann'] }))
    expect(refused.error).toEqual(expect.any(Unavailable))
    await world.clock.advance(PAUSE_MS)
    const second = await apply('bob', set({ allow: ['ann'] }))
    archiveGate.release()
    await world.clock.advance(10)
    expect(second.record?.privacy).toMatchObject({ deny: ['mallory'], allow: ['ann'], reciprocal: false })
  })

  test('[C7] a refused change of settings takes no other event of the user with it', async () => {
    const awayAfter: PresenceEvent = { type: 'set_away_after', at: now(), awayAfterMs: 60_000 }
    const came = await apply('bob', connected('web#1', now()))
    const chose = await apply('bob', set({ reciprocal: true }), awayAfter)
    await report('bob', connected('mobile#1', now()))
    archiveGate.release(0, failure)
    await world.clock.advance(10)
    expect(chose.error).toBeInstanceOf(Unavailable)
    expect(came.record?.sessions.map(({ id }) => id)).toEqual(['mobile#1', 'web#1'])
    // Nothing of the refused change is kept.
    expect(came.record).toMatchObject({ privacy: null, awayAfter: null })
  })

  test('[C7] a choice that the store lost is read back once the archive answers', async () => {
    // As a failover leaves it: the session is there, and the choice is not.
    const record = emptyRecord(5)
    const stored = { userId: 'bob', expectedRevision: 0, record, dueAt: null, retainUntil: null }
    await world.memory.commit([stored])
    const again = { since: now(), formerIds: ['web#1'] }
    await report('bob', connected('web#2', now(), { again }))
    archiveGate.release(0, failure)
    await world.clock.advance(10)
    expect((await world.stored('bob'))?.privacy).toBeNull()
    archiveGate.open()
    await world.clock.advance(2 * PAUSE_MS)
    expect((await world.stored('bob'))?.privacy).toMatchObject({ deny: ['mallory'] })
    expect(world.tracker.depth()).toBe(0)
  })

  test('[C7] a user that the store has meanwhile is stepped from the store', async () => {
    const chose = await apply('bob', set({ allow: ['ann'] }))
    const [archived] = await world.done(world.archive.read(['bob']))
    const privacy = archived!.settings!.privacy
    const record: UserRecord = { ...emptyRecord(5), privacy }
    await world.memory.commit([
      { userId: 'bob', expectedRevision: 0, record, dueAt: null, retainUntil: null },
    ])
    archiveGate.release(0, failure)
    await world.clock.advance(10)
    expect(chose.record?.privacy).toMatchObject({ deny: ['mallory'], allow: ['ann'] })
  })
})
