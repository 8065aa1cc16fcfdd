// Random histories of a PresenceStore, compared call by call with a reference store of plain lists that are
// searched from end to end. Part of the store contract.
//
// A failure prints `{ seed, path }`. To replay it: `fc.assert(property, { seed: …, path: '…' })`.
import { expect } from 'bun:test'
import { STATUSES, type Status } from '@greendot/protocol'
import fc from 'fast-check'
import type { UserRecord } from '../../../packages/server/src/presence/core/record.ts'
import type { PresenceStore } from '../../../packages/server/src/store/port.ts'
import { aRecord, aSession } from '../../worlds/records.ts'

const USERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const GATEWAYS = ['g1', 'g2', 'g3']
const TIME_MAX = 30

type Lease = { state: 'held'; until: number } | { state: 'lost'; at: number }

interface Row {
  userId: string
  revision: number
  record: UserRecord
  dueAt: number | null
  retainUntil: number | null
}

interface Model {
  rows: Row[]
  interest: { gatewayId: string; userId: string }[]
  /** Every gateway that has or lost a lease and was not dropped. */
  gateways: Map<string, Lease>
  /** The largest revision a user ever had, forgotten or not. */
  revisionMax: Map<string, number>
}

const user = fc.constantFrom(...USERS)
const users = fc.uniqueArray(user, { minLength: 1, maxLength: 5 })
const gateway = fc.constantFrom(...GATEWAYS)
const instant = fc.integer({ min: 1, max: TIME_MAX })
const maybeInstant = fc.option(instant, { freq: 2 })

const session = fc.record({ gatewayId: gateway, live: fc.boolean() })
const record = fc
  .record({
    sessions: fc.array(session, { maxLength: 3 }),
    status: fc.constantFrom(...STATUSES),
    version: fc.nat(),
  })
  .map(({ sessions, status, version }) =>
    aRecord({
      version,
      shown: { status },
      sessions: sessions.map(({ gatewayId, live }, index) =>
        aSession({
          id: `s${index}`,
          gatewayId,
          end: live ? { state: 'live' } : { state: 'closed', since: 1 },
        }),
      ),
    }),
  )

const commitOf = fc.record({
  userId: user,
  expects: fc.constantFrom('current', 'current', 'current', 'absent', 'stale'),
  record,
  dueAt: maybeInstant,
  retainUntil: maybeInstant,
})
const commits = fc.uniqueArray(commitOf, { minLength: 1, maxLength: 5, selector: (commit) => commit.userId })

const call = fc.oneof(
  { weight: 6, arbitrary: fc.record({ call: fc.constant('commit' as const), commits }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('addInterest' as const), gateway, users }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('removeInterest' as const), gateway, users }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('openLease' as const), gateway, until: instant }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('renewLease' as const), gateway, until: instant }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('retireGateway' as const), gateway, at: instant }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('lostGateways' as const), now: instant }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('dropGateway' as const), gateway }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('forget' as const), now: instant }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constant('look' as const), now: instant, limit: fc.nat(4) }) },
)
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never

export async function checkRandomHistories(
  makeStore: () => Promise<PresenceStore>,
  numRuns: number,
): Promise<void> {
  const property = fc.asyncProperty(fc.array(call, { maxLength: 40, size: 'max' }), async (calls) => {
    const store = await makeStore()
    const model: Model = { rows: [], interest: [], gateways: new Map(), revisionMax: new Map() }
    try {
      for (const one of calls) await apply(store, model, one)
      await compare(store, model, TIME_MAX, USERS.length)
      await compareLost(store, model, TIME_MAX)
    } finally {
      await store.close()
    }
  })
  await fc.assert(property, { numRuns, includeErrorInReport: true })
}

async function apply(store: PresenceStore, model: Model, one: Call): Promise<void> {
  switch (one.call) {
    case 'commit':
      return applyCommits(store, model, one.commits)
    case 'addInterest':
      await store.addInterest(one.gateway, one.users)
      model.interest = without(model.interest, one.gateway, one.users)
      for (const userId of one.users) model.interest.push({ gatewayId: one.gateway, userId })
      return
    case 'removeInterest':
      await store.removeInterest(one.gateway, one.users)
      model.interest = without(model.interest, one.gateway, one.users)
      return
    case 'openLease':
      // Names are never used twice; only an unknown gateway may open a lease.
      if (model.gateways.has(one.gateway)) return
      await store.openLease(one.gateway, one.until)
      model.gateways.set(one.gateway, { state: 'held', until: one.until })
      return
    case 'renewLease': {
      const isHeld = model.gateways.get(one.gateway)?.state === 'held'
      expect(await store.renewLease(one.gateway, one.until)).toBe(isHeld)
      if (isHeld) model.gateways.set(one.gateway, { state: 'held', until: one.until })
      return
    }
    case 'retireGateway':
      await store.retireGateway(one.gateway, one.at)
      model.gateways.set(one.gateway, { state: 'lost', at: one.at })
      return
    case 'lostGateways':
      return compareLost(store, model, one.now)
    case 'dropGateway':
      await store.dropGateway(one.gateway)
      model.gateways.delete(one.gateway)
      model.interest = without(model.interest, one.gateway, USERS)
      return
    case 'forget': {
      const isWatched = (userId: string) => model.interest.some((edge) => edge.userId === userId)
      const kept = model.rows.filter(
        (row) =>
          row.retainUntil === null ||
          row.retainUntil >= one.now ||
          (row.dueAt !== null && isWatched(row.userId)),
      )
      // These are looked at again much later.
      for (const row of kept)
        if (row.retainUntil !== null && row.retainUntil < one.now) row.retainUntil = null
      expect(await store.forget(one.now, USERS.length)).toBe(model.rows.length - kept.length)
      model.rows = kept
      return
    }
    case 'look':
      return compare(store, model, one.now, one.limit)
  }
}

async function applyCommits(
  store: PresenceStore,
  model: Model,
  wanted: Extract<Call, { call: 'commit' }>['commits'],
): Promise<void> {
  const batch = wanted.map(({ expects, ...commit }) => {
    const current = model.rows.find((row) => row.userId === commit.userId)?.revision ?? 0
    const stale = current > 0 ? current - 1 : (model.revisionMax.get(commit.userId) ?? 1)
    const expectedRevision = { current, absent: 0, stale }[expects]
    return { ...commit, expectedRevision, fits: expectedRevision === current }
  })
  const results = await store.commit(batch.map(({ fits: _, ...commit }) => commit))
  expect(results).toHaveLength(batch.length)
  for (const [index, { fits, userId, record, dueAt, retainUntil }] of batch.entries()) {
    const result = results[index]!
    expect(result.outcome).toBe(fits ? 'committed' : 'conflict')
    if (result.outcome === 'conflict') continue
    expect(result.revision).toBeGreaterThan(model.revisionMax.get(userId) ?? 0)
    const watching = model.interest.filter((edge) => edge.userId === userId).map((edge) => edge.gatewayId)
    expect([...result.interested].sort()).toEqual(watching.sort())
    model.revisionMax.set(userId, result.revision)
    model.rows = model.rows.filter((row) => row.userId !== userId)
    model.rows.push({ userId, revision: result.revision, record, dueAt, retainUntil })
  }
}

async function compare(store: PresenceStore, model: Model, now: number, limit: number): Promise<void> {
  const held = USERS.map((userId) => model.rows.find((row) => row.userId === userId))
  const expected = held.map((row) => (row ? { record: row.record, revision: row.revision } : null))
  expect(await store.load(USERS)).toEqual(expected)

  const due = model.rows.filter((row) => row.dueAt !== null && row.dueAt <= now)
  const listed = []
  for (let shard = 0; shard < store.shardCount; shard++) {
    const all = await store.due(shard, now, USERS.length)
    const instants = all.map((one) => one.dueAt)
    expect(instants).toEqual([...instants].sort((x, y) => x - y))
    expect((await store.due(shard, now, limit)).map((one) => one.dueAt)).toEqual(instants.slice(0, limit))
    listed.push(...all.map((one) => `${one.userId}@${one.dueAt}`))
  }
  expect(listed.sort()).toEqual(due.map((row) => `${row.userId}@${row.dueAt}`).sort())

  for (const gatewayId of GATEWAYS) {
    const attached = model.rows.filter((row) => livesOn(row.record, gatewayId)).map((row) => row.userId)
    expect((await store.usersOf(gatewayId)).sort()).toEqual(attached.sort())
  }
  const live = GATEWAYS.filter((gatewayId) => {
    const lease = model.gateways.get(gatewayId)
    return lease?.state === 'held' && lease.until > now
  })
  expect((await store.liveLeases(now)).sort()).toEqual(live)
  const count = (status: Status) => model.rows.filter((row) => row.record.shown.status === status).length
  const counts = {
    online: count('online'),
    away: count('away'),
    busy: count('busy'),
    offline: count('offline'),
  }
  expect(await store.countByStatus()).toEqual(counts)
}

async function compareLost(store: PresenceStore, model: Model, now: number): Promise<void> {
  for (const [gatewayId, lease] of model.gateways) {
    if (lease.state === 'held' && lease.until <= now) {
      model.gateways.set(gatewayId, { state: 'lost', at: lease.until })
    }
  }
  const lost = [...model.gateways].flatMap(([gatewayId, lease]) =>
    lease.state === 'lost' ? [`${gatewayId}@${lease.at}`] : [],
  )
  const listed = (await store.lostGateways(now)).map(({ gatewayId, lostAt }) => `${gatewayId}@${lostAt}`)
  expect(listed.sort()).toEqual(lost.sort())
}

const livesOn = (record: UserRecord, gatewayId: string): boolean =>
  record.sessions.some((session) => session.gatewayId === gatewayId && session.end.state === 'live')

const without = (interest: Model['interest'], gatewayId: string, userIds: string[]): Model['interest'] =>
  interest.filter((edge) => edge.gatewayId !== gatewayId || !userIds.includes(edge.userId))
