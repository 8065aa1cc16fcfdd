// One random run: starts everything, follows the plan, waits until it is quiet, lets everybody leave, and then asks
// the checks what they make of the history.
import { createRandom } from '../../../packages/bench/src/platform/random.ts'
import type { Postgres } from '../../services/postgres.ts'
import { startRedis } from '../../services/redis.ts'
import { startRedisCluster } from '../../services/redis-cluster.ts'
import { createAllowances } from './allowances.ts'
import { disagreement, type Shown } from './checks/agreement.ts'
import { checkFalseOffline } from './checks/false-offline.ts'
import { checkGhosts } from './checks/ghosts.ts'
import { checkKeptChoices } from './checks/kept-choices.ts'
import { checkLeftovers } from './checks/leftovers.ts'
import { checkPrivacy } from './checks/privacy.ts'
import { checkProcesses } from './checks/processes.ts'
import { checkVersions } from './checks/versions.ts'
import type { Violation } from './checks/violation.ts'
import { causeFault } from './faults.ts'
import type { Store } from './faults-store.ts'
import { createHistory, type History } from './history.ts'
import { measureLag } from './lag.ts'
import { createPerson, type Person } from './people.ts'
import { ACTIVE_MS, type Plan, type Step } from './plan.ts'
import { contacts, query } from './requests.ts'
import { startServers } from './servers.ts'
import { TIMES } from './times.ts'
import { createViewer, keepAsking, type Viewer } from './viewers.ts'

const FIRST_MS_MAX = 60_000
const CHECK_EVERY_MS = 200
/** Nothing may contradict the truth for this long. */
const QUIET_MS = 600
const ENDINGS = ['left', 'closed', 'silent'] as const

export interface SeedResult {
  history: History
  violations: Violation[]
  lagMs: number
}

export async function runSeed(plan: Plan, postgres: Postgres): Promise<SeedResult> {
  const random = createRandom(plan.seed + 1)
  const store = await startStore(plan)
  const databaseUrl = await postgres.newSchema()
  const history = createHistory()
  const lag = measureLag()
  const servers = await startServers(plan.serverCount, {
    dev: true,
    port: 0,
    log_level: process.env.GREENDOT_FAULTS_LOG ?? 'silent',
    redis_url: store.kind === 'redis' ? store.redis.url : store.cluster.url,
    database_url: databaseUrl,
    database_pool: 4,
    poll_burst: 100_000,
    ...TIMES,
  })
  const world = { servers, random, history }
  const people = plan.users.map((user) => createPerson(user, world))
  const ids = plan.users.map(({ id }) => id)
  const viewers = plan.viewers.map((id) => createViewer(id, ids, world))
  const present = new Set<Viewer>()
  const violations: Violation[] = []
  const devices = people.flatMap((person) => person.devices.map(({ peer }) => peer))
  const broken = { servers, store, postgres, databaseUrl, devices, history }
  const allowances = () => createAllowances(history.faults, lag.worstMs())

  function enter(viewer: Viewer): void {
    present.add(viewer)
    viewer.peer.open()
  }

  function follow(step: Step): void {
    if (step.who === 'user') people[step.user]!.act(step.action)
    else if (step.action === 'arrive') enter(viewers[step.viewer]!)
    else viewers[step.viewer]!.peer.reconnect()
  }

  async function disagreements(): Promise<Violation[]> {
    const shown = new Map<string, Shown[]>(ids.map((id) => [id, []]))
    for (const viewer of present) {
      if (!viewer.peer.isReady()) return [notReady(viewer.id)]
      for (const [id, one] of viewer.screen) shown.get(id)!.push(one)
    }
    for (const { name, process } of servers.running()) {
      for (const { id: viewer } of present) {
        const { code, isDegraded, presences } = await query(process.url, viewer, ids)
        if (code !== 200 || isDegraded) return [notReady(`${name} (${code}, degraded: ${isDegraded})`)]
        for (const { user_id, status, custom_status, devices, version } of presences) {
          const text = custom_status?.text ?? null
          shown.get(user_id)!.push({ by: name, viewer, status, text, deviceCount: devices.length, version })
        }
      }
    }
    const now = performance.now()
    return people
      .map((one) => disagreement(one.truth(), shown.get(one.target.id)!, now))
      .filter((one) => one !== null)
  }

  async function agree(until: () => number): Promise<Violation[]> {
    let agreedAt: number | null = null
    while (true) {
      const found = await disagreements()
      const now = performance.now()
      if (found.length > 0) agreedAt = null
      else agreedAt ??= now
      if (agreedAt !== null && now - agreedAt >= QUIET_MS) return []
      if (now > until() && found.length > 0) return found
      await Bun.sleep(CHECK_EVERY_MS)
    }
  }

  try {
    await prepare(plan, people, servers.running()[0]!.process.url)
    for (const person of people)
      for (const device of person.devices.keys()) person.act({ do: 'connect', device })
    for (const viewer of viewers.slice(0, plan.firstViewers)) enter(viewer)
    const firstUntil = performance.now() + FIRST_MS_MAX
    violations.push(...(await agree(() => firstUntil)))
    if (violations.length > 0) return { history, violations, lagMs: lag.worstMs() }
    history.remark('everybody is connected, and everything agrees')

    const asking = keepAsking(plan.viewers, ids, world)
    const startedAt = performance.now()
    const faults = plan.faults.map(async (fault) => {
      await Bun.sleep(fault.at)
      await causeFault(fault, broken)
    })
    for (const step of plan.steps) {
      await Bun.sleep(Math.max(0, startedAt + step.at - performance.now()))
      follow(step)
    }
    await Bun.sleep(Math.max(0, startedAt + ACTIVE_MS - performance.now()))
    await Promise.all(faults)
    await Promise.all(people.map((person) => person.settled()))
    history.remark('quiet')
    const quietAt = performance.now()
    violations.push(...(await agree(() => allowances().until(quietAt))))
    violations.push(...(await checkKeptChoices(history, servers, databaseUrl, allowances().until(quietAt))))

    history.remark('everybody leaves')
    for (const [index, person] of people.entries()) {
      for (const device of person.devices.keys())
        person.act({ do: 'end', device, how: ENDINGS[index % ENDINGS.length]! })
    }
    const leftAt = performance.now() + TIMES.heartbeat_ttl_ms + TIMES.offline_delay_ms
    violations.push(...(await agree(() => allowances().until(leftAt))))
    asking.stop()
    for (const { peer } of viewers) peer.end('left')
    const emptyAt = performance.now() + TIMES.offline_delay_ms
    violations.push(...(await checkLeftovers(store, servers, allowances().until(emptyAt) + 5_000)))
    violations.push(...(await checkProcesses(servers, history)))

    const endedAt = performance.now()
    const final = allowances()
    violations.push(
      ...checkVersions(history),
      ...checkFalseOffline(history, final),
      ...checkPrivacy(history, final.slackMs),
      ...checkGhosts(history, final, endedAt),
    )
    return { history, violations, lagMs: lag.worstMs() }
  } finally {
    lag.stop()
    for (const peer of [...devices, ...viewers.map((viewer) => viewer.peer)]) peer.end('closed')
    await servers.endAll()
    await (store.kind === 'redis' ? store.redis.stop() : store.cluster.stop())
  }
}

const notReady = (who: string): Violation => ({
  check: 'agreement',
  at: performance.now(),
  what: `${who} is not ready`,
})

async function startStore({ store }: Plan): Promise<Store> {
  if (store === 'redis') return { kind: 'redis', redis: await startRedis() }
  return { kind: 'cluster', cluster: await startRedisCluster() }
}

/** Contact lists and first choices, before anybody connects. */
async function prepare(plan: Plan, people: readonly Person[], url: string): Promise<void> {
  await Promise.all(
    plan.users.map(async ({ id, contacts: list, choices }, index) => {
      const response = await contacts(url, id, list)
      if (!response.ok) throw new Error(`the contacts of ${id} were refused: ${response.status}`)
      for (const { field, value } of choices) {
        const { outcome } = await people[index]!.choose(field, value, 'http')
        if (outcome !== 'acknowledged') throw new Error(`the first choice of ${id} was ${outcome}`)
      }
    }),
  )
}
