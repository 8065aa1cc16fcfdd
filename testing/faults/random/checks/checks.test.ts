// Each check of the random runs on small histories: one that keeps the promise and one that breaks it.
import { describe, expect, test } from 'bun:test'
import type { Status } from '@greendot/protocol'
import { GHOST_MS, VISIBLE_MS } from '../deployment/times.ts'
import { createAllowances } from '../history/allowances.ts'
import {
  type Choice,
  createHistory,
  createTarget,
  type FaultRecord,
  type Sighting,
} from '../history/history.ts'
import { possibleChoices } from '../history/possible-choices.ts'
import { planOf } from '../plan/plan.ts'
import { disagreement } from './agreement.ts'
import { checkFalseOffline } from './false-offline.ts'
import { checkGhosts } from './ghosts.ts'
import { checkPrivacy } from './privacy.ts'
import { brokenChains } from './relayed.ts'
import { checkVersions } from './versions.ts'

const NEVER = Number.POSITIVE_INFINITY
const CALM = createAllowances([], 0)

function historyOf({ sightings = [], faults = [] }: { sightings?: Sighting[]; faults?: FaultRecord[] }) {
  const history = createHistory()
  const bob = createTarget('bob', ['alice'])
  history.targets.set('bob', bob)
  history.sightings.push(...sightings)
  history.faults.push(...faults)
  history.watchings.push({ viewer: 'alice', server: 's0', from: 0, to: NEVER })
  return { history, bob }
}

const seen = (
  at: number,
  status: Sighting['status'],
  version: number,
  more: Partial<Sighting> = {},
): Sighting => ({
  at,
  askedAt: at,
  viewer: 'alice',
  target: 'bob',
  status,
  text: null,
  deviceCount: status === 'offline' ? 0 : 1,
  version,
  via: 'change',
  isDegraded: false,
  server: 's0',
  ...more,
})

const chosen = (field: Choice['field'], value: string, at: number, outcome: Choice['outcome']): Choice => ({
  field,
  value,
  sentAt: at,
  answeredAt: at + 10,
  outcome,
  via: 'http',
})

const open = { device: 'd', server: 's0', openedAt: 0, endedAt: NEVER, ending: null }
const fault = (name: string, from: number, to: number, more: Partial<FaultRecord> = {}): FaultRecord => ({
  name,
  scope: 'store',
  from,
  to,
  healMs: 5_000,
  servers: [],
  ...more,
})

describe('the checks of random runs', () => {
  test('[C7] the same seed gives the same plan, with faults of different parts', () => {
    expect(planOf(7, 'redis')).toEqual(planOf(7, 'redis'))
    for (let seed = 0; seed < 50; seed++) {
      const { faults, users } = planOf(seed, 'cluster')
      expect(new Set(faults.map(({ kind }) => kind)).size).toBeGreaterThan(1)
      expect(users.length).toBeWithin(60, 121)
    }
  })

  test('[W9] a version that goes backwards is found, and version 0 is not one', () => {
    const check = (...versions: number[]) =>
      checkVersions(historyOf({ sightings: versions.map((one) => seen(one, 'online', one)) }).history).length
    expect([check(1, 2, 2, 3), check(3, 0, 3), check(3, 0, 1), check(3, 2)]).toEqual([0, 0, 0, 1])
  })

  test('[C7] a user with an open connection who is shown as offline is found', () => {
    const at = 10_000
    const { history, bob } = historyOf({ sightings: [seen(at, 'offline', 5)] })
    bob.connections.push(open)
    expect(checkFalseOffline(history, CALM)).toHaveLength(1)
    history.faults.push(fault('server killed', at - 100, at, { scope: 'server', servers: ['s0'] }))
    expect(checkFalseOffline(history, CALM)).toEqual([])
  })

  test('[C7, P27] version 0 that the same frame follows with the state is not false, and alone it is', () => {
    const at = 10_000
    for (const [next, found] of [
      [seen(at, 'online', 5), 0],
      [seen(at + 1_000, 'online', 5), 1],
      [seen(at, 'online', 5, { viewer: 'carol' }), 1],
    ] as const) {
      const { history, bob } = historyOf({ sightings: [seen(at, 'offline', 0), next] })
      bob.connections.push(open)
      expect(checkFalseOffline(history, CALM)).toHaveLength(found)
    }
  })

  test('[C7] a departure that was true a moment ago is not false', () => {
    const { history, bob } = historyOf({ sightings: [seen(10_000, 'offline', 5)] })
    bob.connections.push({ ...open, openedAt: 10_000 - VISIBLE_MS / 2 })
    expect(checkFalseOffline(history, CALM)).toEqual([])
  })

  test('[X1] a ghost is found after its bound, which waits for the end of a fault', () => {
    const goneAt = 10_000
    const { history, bob } = historyOf({ sightings: [seen(0, 'online', 1)] })
    bob.connections.push({ ...open, endedAt: goneAt, ending: 'closed' })
    bob.isPresent.set(true, 0)
    bob.isPresent.set(false, goneAt)
    const boundAt = goneAt + GHOST_MS.closed + VISIBLE_MS
    expect(checkGhosts(history, CALM, boundAt)).toEqual([])
    expect(checkGhosts(history, CALM, boundAt + 1_000)).toHaveLength(1)
    const broken = createAllowances([fault('store frozen', goneAt, goneAt + 3_000)], 0)
    expect(checkGhosts(history, broken, boundAt + 1_000)).toEqual([])
  })

  test('[S2] an invisible user who is shown is found, once the choice had time to spread', () => {
    const { history, bob } = historyOf({ sightings: [seen(1_500, 'online', 1), seen(5_000, 'online', 2)] })
    bob.choices.push(chosen('availability', 'invisible', 1_000, 'acknowledged'))
    expect(checkPrivacy(history, VISIBLE_MS).map(({ at }) => at)).toEqual([5_000])
  })

  test('[S6] a hidden user is never shown to a viewer outside of the audience', () => {
    const { history, bob } = historyOf({
      sightings: [seen(5_000, 'online', 2), seen(5_000, 'online', 2, { viewer: 'carol' })],
    })
    bob.choices.push(chosen('visibility', 'contacts', 1_000, 'acknowledged'))
    expect(checkPrivacy(history, VISIBLE_MS).map(({ viewer }) => viewer)).toEqual(['carol'])
  })

  test('[S4] an acknowledged choice replaces earlier ones, and a refused one may hold until the next', () => {
    const values = (...choices: Choice[]) => [...possibleChoices({ choices }, 'text', 5_000, 5_000)].sort()
    const first = chosen('text', 'first', 1_000, 'acknowledged')
    expect(values(first)).toEqual(['first'])
    expect(values(first, chosen('text', 'second', 2_000, 'refused'))).toEqual(['first', 'second'])
    expect(values(chosen('text', 'zero', 500, 'refused'), first)).toEqual(['first'])
    expect(values(chosen('text', 'zero', 500, 'unanswered'), first)).toEqual(['first', 'zero'])
  })

  test('[C3] a change that is missing in the topic is found, and one that came twice is not', () => {
    const change = (version: number, old_status: Status, new_status: Status) => {
      return { user_id: 'bob', version, old_status, new_status }
    }
    const [came, idle, left] = [
      change(1, 'offline', 'online'),
      change(2, 'online', 'away'),
      change(3, 'away', 'offline'),
    ]
    const found = (changes: ReturnType<typeof change>[]) => brokenChains(changes, ['bob']).length
    expect([found([came, idle, left]), found([came, idle, came, idle, left])]).toEqual([0, 0])
    expect([found([came, left]), found([came, idle]), found([])]).toEqual([1, 1, 0])
  })

  test('[C7] viewers who show different things disagree, also where either would be possible', () => {
    const { bob } = historyOf({})
    bob.choices.push(chosen('text', 'perhaps', 1_000, 'refused'))
    const truth = { target: bob, isPresent: true, isActive: true }
    const by = 's0'
    const plain = { ...seen(0, 'online', 1), by }
    const texted = { ...seen(0, 'online', 2, { text: 'perhaps' }), by }
    expect(disagreement(truth, [plain, plain], 5_000)).toBeNull()
    expect(disagreement(truth, [texted, texted], 5_000)).toBeNull()
    expect(disagreement(truth, [plain, texted], 5_000)).not.toBeNull()
  })
})
