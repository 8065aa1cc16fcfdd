// What is announced to which gateway, and what must be written before it. On the real tracker, store and
// archive; the test decides when the archive writes.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
  WATCHING,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { connected, idle, left, say } from '../../../../../testing/worlds/presence-user.ts'
import type { BusMessage } from '../../bus/port.ts'
import type { Duty } from '../../store/port.ts'
import type { PresenceEvent } from '../core/event.ts'
import { emptyRecord } from '../core/record.ts'
import { Unavailable } from '../unavailable.ts'
import type { Tracked } from './tracker.ts'

/** Rows of arrivals gather for this long. */
const GATHER_MS = 5
/** Duties that are done are cleared within this time. */
const CLEAR_MS = 25
/** After this time a sweeper does the duties of others. */
const LATE_MS = 10_000
const OWN = 'g1'

let world: Pipeline
/** Holds writes of any row. */
let gate: Gate
let isArchiveAway: boolean
/** What the gateway that holds the sessions is sent. */
let own: BusMessage[]
let changed: string[]

async function begin(isStoreVolatile: boolean): Promise<void> {
  ;[gate, isArchiveAway, own, changed] = [createGate(), false, [], []]
  const write = async <Written>(rows: () => Promise<Written>) => {
    await gate.pass()
    if (isArchiveAway) throw new Error('the database is gone')
    return rows()
  }
  world = await createPipeline({
    isStoreVolatile,
    archive: (sqlite) => ({
      writeLastSeen: (rows) => write(() => sqlite.writeLastSeen(rows)),
      writeSettings: (rows) => write(() => sqlite.writeSettings(rows)),
    }),
    onChange: (userId) => void changed.push(userId),
  })
  await world.bus.subscribe(OWN, (messages) => void own.push(...messages))
  await world.watch('bob', 'ann')
}

const now = () => world.clock.now()

/** Reports the events; the outcome is filled in once the caller is answered. */
async function apply(userId: string, ...events: PresenceEvent[]): Promise<{ tracked: Tracked | null }> {
  const outcome: { tracked: Tracked | null } = { tracked: null }
  void world.tracker.apply(userId, ...events).then((tracked) => {
    outcome.tracked = tracked
  })
  await world.clock.advance(GATHER_MS)
  return outcome
}

const open = async () => {
  gate.open()
  await world.clock.advance(GATHER_MS)
}

async function openDuties(): Promise<Record<Duty, string[]>> {
  const all = async (duty: Duty) =>
    (await world.memory.openDuties(duty, 0, now(), 10)).map(({ userId }) => userId)
  return { announce: await all('announce'), archive: await all('archive') }
}

const statuses = () => world.changes().map(({ user_id, status }) => `${user_id} ${status}`)
const rowOf = async (userId: string) => (await world.done(world.archive.read([userId])))[0]!.lastSeen

describe('with a store that dies with the process', () => {
  beforeEach(() => begin(true))

  test('[S4] a departure is written before it is announced and answered', async () => {
    await apply('bob', connected('web#1', now()))
    gate.close()
    const gone = await apply('bob', left('web#1', now()))
    expect([statuses(), gone.tracked]).toEqual([['bob online'], null])
    await open()
    expect(statuses()).toEqual(['bob online', 'bob offline'])
    expect(gone.tracked?.record.shown.status).toBe('offline')
    expect((await rowOf('bob'))?.status).toBe('offline')
  })

  test('[S4] a setting is written before it is announced and answered', async () => {
    gate.close()
    const said = await apply('bob', say('lunch', now()))
    // Two rows: what is shown, and what was chosen.
    expect([statuses(), said.tracked, gate.waiting()]).toEqual([[], null, 2])
    gate.release()
    await world.clock.advance(GATHER_MS)
    expect([statuses(), said.tracked]).toEqual([[], null])
    await open()
    expect(statuses()).toEqual(['bob offline'])
    expect(said.tracked?.record.customStatus?.text).toBe('lunch')
  })

  test('[S4] leaves no duties, because no other process could do them', async () => {
    gate.close()
    await apply('bob', connected('web#1', now()))
    expect(await openDuties()).toEqual({ announce: [], archive: [] })
  })
})

describe('with a store that outlives the process', () => {
  beforeEach(() => begin(false))

  test('[D2, S4] a departure is announced at once, however long its row takes', async () => {
    await apply('bob', connected('web#1', now()))
    gate.close()
    const gone = await apply('bob', left('web#1', now()))
    expect(statuses()).toEqual(['bob online', 'bob offline'])
    expect(gone.tracked?.record.shown.status).toBe('offline')
    await world.clock.advance(CLEAR_MS)
    expect(await openDuties()).toEqual({ announce: [], archive: ['bob'] })
    await open()
    await world.clock.advance(CLEAR_MS)
    expect(await openDuties()).toEqual({ announce: [], archive: [] })
    expect((await rowOf('bob'))?.status).toBe('offline')
  })

  test('[W8, C7] a commit that follows one of a process that died announces what that one did not', async () => {
    await apply('bob', connected('web#1', now()))
    await apply('bob', connected('mobile#1', now()))
    await world.clock.advance(CLEAR_MS)
    const [stored] = await world.memory.load(['bob'])
    const { record, revision } = stored!
    const dead = { ...record, version: record.version + 1 }
    const owed = { duties: ['announce'], since: now() } as const
    const kept = { dueAt: null, retainUntil: null, owed }
    await world.memory.commit([{ userId: 'bob', expectedRevision: revision, record: dead, ...kept }])
    world.heard.length = 0
    // The own view changes, and nothing that others see.
    await apply('bob', { type: 'closed', sessionId: 'mobile#1', at: now() + 1 })
    expect(world.changes().map(({ version }) => version)).toEqual([dead.version])
    await world.clock.advance(CLEAR_MS)
    expect((await openDuties()).announce).toEqual([])
  })

  test('[S2, C7] a user who hides is answered when gateways are being told, and all others by the commit', async () => {
    const { publish } = world.bus
    const [held, reached] = [createGate(), { isReached: true }]
    held.close()
    world.bus.publish = async (gatewayId, messages) => {
      await held.pass()
      return reached.isReached && publish(gatewayId, messages)
    }
    expect((await apply('bob', connected('web#1', now()))).tracked).not.toBeNull()
    const hide = { type: 'set_availability', status: 'invisible', expiresAt: null } as const
    const hidden = await world.outcomeOf('bob', { ...hide, at: now() + 1 })
    expect(hidden).toEqual({ record: null, error: null })
    held.open()
    await world.clock.advance(CLEAR_MS)
    expect(hidden.record?.shown.status).toBe('offline')
    expect((await openDuties()).announce).toEqual([])

    reached.isReached = false
    const shown = await world.outcomeOf('bob', { ...hide, status: 'auto', at: now() + 1 })
    await world.clock.advance(CLEAR_MS)
    expect(shown.error).toBeInstanceOf(Unavailable)
    // A sweeper tells them.
    expect((await openDuties()).announce).toEqual(['bob'])
  })

  test('[S4] a choice that shows nothing new leaves the duty of an earlier row open', async () => {
    await apply('bob', connected('web#1', now()))
    await world.clock.advance(CLEAR_MS)
    isArchiveAway = true
    await apply('bob', left('web#1', now()))
    isArchiveAway = false
    await apply('bob', { type: 'set_away_after', at: now() + 1, awayAfterMs: 60_000 })
    await world.clock.advance(CLEAR_MS)
    expect((await openDuties()).archive).toEqual(['bob'])
  })

  test('[S4] a row that could not be written leaves its duty open, and nothing is kept here', async () => {
    isArchiveAway = true
    await apply('bob', connected('web#1', now()))
    await world.clock.advance(CLEAR_MS)
    expect([await openDuties(), world.archivist.backlog()]).toEqual([{ announce: [], archive: ['bob'] }, 0])
  })

  test('[C7, S4] a user whose row has a version that the store lost is raised above it by a sweeper', async () => {
    await apply('bob', connected('web#1', now()))
    const { version } = (await rowOf('bob'))!
    const lost = { ...(await rowOf('bob'))!, version: version + 5 }
    await world.done(world.archive.writeLastSeen([lost]))
    await apply('bob', left('web#1', now() + 1))
    await world.clock.advance(CLEAR_MS)
    expect([(await rowOf('bob'))?.status, (await openDuties()).archive]).toEqual(['here', ['bob']])
    await world.clock.advance(LATE_MS)
    await world.done(world.dutySweep.sweep(0, now(), true))
    await world.clock.advance(CLEAR_MS)
    expect(await rowOf('bob')).toMatchObject({ status: 'offline', version: version + 6 })
    expect((await openDuties()).archive).toEqual([])
  })

  test('[C7] a sweeper announces and writes what a process that died left', async () => {
    const { publish } = world.bus
    // As if the process had been killed after the commit.
    world.bus.publish = () => new Promise(() => {})
    isArchiveAway = true
    await apply('bob', connected('web#1', now()))
    expect(await openDuties()).toEqual({ announce: ['bob'], archive: ['bob'] })
    world.bus.publish = publish
    isArchiveAway = false
    await world.dutySweep.sweep(0, now(), true)
    await world.clock.advance(CLEAR_MS)
    // It may still be on its way.
    expect(statuses()).toEqual([])
    await world.clock.advance(LATE_MS)
    await world.done(world.dutySweep.sweep(0, now(), true))
    await world.clock.advance(CLEAR_MS)
    expect(statuses()).toEqual(['bob online'])
    expect((await rowOf('bob'))?.status).toBe('here')
    // The commit that announced it wrote the same row once more, which the next round looks at.
    await world.clock.advance(LATE_MS)
    await world.done(world.dutySweep.sweep(0, now(), true))
    await world.clock.advance(CLEAR_MS)
    expect(await openDuties()).toEqual({ announce: [], archive: [] })
  })
})

describe.each([true, false])('with a store that dies with the process: %p', (isStoreVolatile) => {
  beforeEach(() => begin(isStoreVolatile))

  test('[C7] while the archive is away nothing waits for it', async () => {
    isArchiveAway = true
    const came = await apply('bob', connected('web#1', now()))
    const wentIdle = await apply('bob', idle('web#1', now()))
    const gone = await apply('bob', left('web#1', now()))
    expect(statuses()).toEqual(['bob online', 'bob away', 'bob offline'])
    expect([came, wentIdle, gone].map(({ tracked }) => tracked !== null)).toEqual([true, true, true])
    expect(await rowOf('bob')).toBeNull()
  })

  test('[C7] an archive that fails during the write holds nothing up any longer', async () => {
    gate.close()
    const gone = await apply('bob', say('lunch', now()))
    isArchiveAway = true
    await open()
    expect(statuses()).toEqual(['bob offline'])
    expect(gone.tracked).not.toBeNull()
  })
})

describe('an arrival', () => {
  test('[S4] is answered at once, and announced when its row is written', async () => {
    await begin(true)
    gate.close()
    const came = await apply('bob', connected('web#1', now()))
    expect(came.tracked?.record.shown.status).toBe('online')
    expect([statuses(), gate.waiting()]).toEqual([[], 1])
    await open()
    expect(statuses()).toEqual(['bob online'])
    const [change] = world.changes()
    expect(await rowOf('bob')).toMatchObject({ status: 'here', version: change!.version })
  })

  test('[S4, W9] is not overtaken by a later change of the same user', async () => {
    await begin(true)
    await apply('ann', connected('web#1', now()))
    gate.close()
    await apply('bob', connected('web#1', now()))
    const wentIdle = await apply('bob', idle('web#1', now()))
    expect(wentIdle.tracked?.record.shown.status).toBe('away')
    // Changes of other users do not wait.
    await apply('ann', idle('web#1', now()))
    expect(statuses()).toEqual(['ann online', 'ann away'])
    await open()
    expect(statuses().slice(2)).toEqual(['bob online', 'bob away'])
  })

  test('[W8] is announced before its row is written where the store outlives the process', async () => {
    await begin(false)
    gate.close()
    const came = await apply('bob', connected('web#1', now()))
    await apply('bob', idle('web#1', now()))
    expect(came.tracked).not.toBeNull()
    expect(statuses()).toEqual(['bob online', 'bob away'])
    await open()
    expect((await rowOf('bob'))?.status).toBe('here')
  })
})

describe('messages', () => {
  beforeEach(async () => {
    await begin(false)
    await apply('bob', connected('web#1', now()))
    ;[own.length, world.heard.length, changed.length] = [0, 0, 0]
  })

  const kinds = (messages: readonly BusMessage[]) => messages.map(({ kind }) => kind)

  test('[W4] a change goes to gateways with watchers, and the own view to gateways with sessions', async () => {
    await apply('bob', idle('web#1', now()))
    expect([kinds(world.heard), kinds(own), changed]).toEqual([['change'], ['self'], ['bob']])
    expect(world.heard[0]).toMatchObject({ userId: 'bob', inputs: null })
    expect(JSON.parse((own[0] as { json: string }).json)).toMatchObject({
      status: 'away',
      availability: 'auto',
    })
  })

  test('[W4] a session that is new gets no own view: it comes with the welcome', async () => {
    await apply('carol', connected('web#1', now()))
    expect([world.heard, own]).toEqual([[], []])
    await apply('bob', connected('mobile#1', now(), { gatewayId: WATCHING }))
    expect([kinds(world.heard), kinds(own)]).toEqual([['change'], ['self']])
  })

  test('[S5] a change of privacy goes to both, with the privacy, though nothing visible changed', async () => {
    await apply('bob', { type: 'set_privacy', at: now(), change: { deny: ['mallory'] } })
    for (const messages of [world.heard, own]) {
      expect(kinds(messages)).toEqual(['change'])
      expect(messages[0]).toMatchObject({ inputs: { privacy: { deny: ['mallory'] } } })
    }
    expect(changed).toEqual(['bob'])
  })

  test('[W2] so does an edit of the contact list', async () => {
    const at = now()
    await apply('bob', { type: 'contacts_changed', at })
    expect([kinds(world.heard), kinds(own)]).toEqual([['change'], ['change']])
    expect(own[0]).toMatchObject({ inputs: { privacy: null, contactsAt: at } })
  })

  test('[D4] the time until away goes to gateways with sessions', async () => {
    await apply('bob', { type: 'set_away_after', at: now(), awayAfterMs: 60_000 })
    expect(world.heard).toEqual([])
    expect(own).toMatchObject([{ kind: 'settings', awayAfter: { awayAfterMs: 60_000 } }])
    expect(changed).toEqual([])
  })

  test('[S2] while invisible only the own view goes on', async () => {
    await apply('bob', { type: 'set_availability', at: now(), status: 'invisible', expiresAt: null })
    expect(statuses()).toEqual(['bob offline'])
    ;[own.length, world.heard.length] = [0, 0]
    await apply('bob', idle('web#1', now()))
    expect([kinds(world.heard), kinds(own)]).toEqual([[], ['self']])
  })

  test('[C7] a repeated user is announced and archived again, changed or not', async () => {
    const [stored] = await world.memory.load(['bob'])
    announceAgain('bob', stored!)
    await world.clock.advance(GATHER_MS)
    expect([kinds(world.heard), kinds(own)]).toEqual([['change'], ['change', 'settings', 'self']])
    expect((await rowOf('bob'))?.status).toBe('here')
  })

  test('[X6] an erased user that is repeated gets no rows', async () => {
    announceAgain('erased', { record: emptyRecord(9), revision: 3 })
    await world.clock.advance(GATHER_MS)
    expect([await rowOf('erased'), world.archivist.backlog()]).toEqual([null, 0])
  })

  function announceAgain(userId: string, { record, revision }: Tracked): void {
    const rest = { revision, interested: [WATCHING], isRepeated: true }
    world.announcer.announce([{ userId, before: record, after: record, ...rest }], now(), () => {})
  }

  test('[D9] an event that changes nothing is not announced', async () => {
    await apply('bob', { type: 'tick' })
    expect([world.heard, own, changed]).toEqual([[], [], []])
  })
})
