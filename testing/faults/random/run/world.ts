// Everything of a run that follows a plan: servers, store, archive, users and viewers. `begin` connects all users,
// `quiet` waits until all agree after the faults, `finish` lets all users leave and asks all checks.
import { createRandom } from '../../../../packages/bench/src/platform/random.ts'
import { startKafka } from '../../../services/kafka.ts'
import type { Postgres } from '../../../services/postgres.ts'
import { checkFalseOffline } from '../checks/false-offline.ts'
import { checkGhosts } from '../checks/ghosts.ts'
import { checkKeptChoices } from '../checks/kept-choices.ts'
import { checkLeftovers } from '../checks/leftovers.ts'
import { checkPrivacy } from '../checks/privacy.ts'
import { checkProcesses } from '../checks/processes.ts'
import { checkRelayed } from '../checks/relayed.ts'
import { checkVersions } from '../checks/versions.ts'
import type { Violation } from '../checks/violation.ts'
import { createAgreement } from '../checks/wait-for-agreement.ts'
import { createPerson, type Person } from '../clients/people.ts'
import { contacts } from '../clients/requests.ts'
import { createViewer, keepAsking, type Viewer } from '../clients/viewers.ts'
import { startServers } from '../deployment/servers.ts'
import { type StoreKind, startStore } from '../deployment/store.ts'
import { GHOST_MS, TIMES } from '../deployment/times.ts'
import type { Breakable } from '../faults/cause-fault.ts'
import { createAllowances } from '../history/allowances.ts'
import { createHistory } from '../history/history.ts'
import type { PlannedUser } from '../plan/plan.ts'
import { measureLag } from './lag.ts'

const FIRST_MS_MAX = 60_000
/** Sweepers look at open duties and orphans only so often. */
const SWEPT_MS = 5_000
const OWNERS = 2
const ENDINGS = ['left', 'closed', 'silent'] as const

export interface WorldOptions {
  seed: number
  store: StoreKind
  /** Servers are gateways then, and other processes own users. */
  hasKafka?: boolean
  serverCount: number
  users: readonly PlannedUser[]
  viewers: readonly string[]
  /** How many of the viewers are there from the start. */
  firstViewers: number
}

export interface World extends Breakable {
  readonly people: readonly Person[]
  readonly viewers: readonly Viewer[]
  enter(viewer: Viewer): void
  lagMs(): number
  begin(): Promise<Violation[]>
  quiet(): Promise<Violation[]>
  finish(): Promise<Violation[]>
  stop(): Promise<void>
}

export async function startWorld(options: WorldOptions, postgres: Postgres): Promise<World> {
  const random = createRandom(options.seed + 1)
  const store = await startStore(options.store)
  const databaseUrl = await postgres.newSchema()
  const history = createHistory()
  const lag = measureLag()
  const kafka = options.hasKafka === true ? await startKafka() : null
  const settings = {
    dev: true,
    port: 0,
    grpc_port: 'off',
    log_level: process.env.GREENDOT_FAULTS_LOG ?? 'silent',
    redis_url: store.kind === 'redis' ? store.redis.url : store.cluster.url,
    database_url: databaseUrl,
    database_pool: 4,
    poll_burst: 100_000,
    ...(kafka && { kafka_brokers: kafka.broker }),
    ...TIMES,
  }
  const gatewayRoles = kafka === null ? {} : { roles: 'gateway,fanout' }
  const servers = await startServers(options.serverCount, { ...settings, ...gatewayRoles })
  const owners = kafka && (await startServers(OWNERS, { ...settings, roles: 'presence' }, 'owner'))
  const processes = [servers, ...(owners === null ? [] : [owners])]
  const parts = { servers, random, history }
  const people = options.users.map((user) => createPerson(user, parts))
  const ids = options.users.map(({ id }) => id)
  const viewers = options.viewers.map((id) => createViewer(id, ids, parts))
  const devices = people.flatMap((person) => person.devices.map(({ peer }) => peer))
  const present = new Set<Viewer>()
  const agree = createAgreement({ servers, people, viewers: present })
  const allowances = () => createAllowances(history.faults, lag.worstMs())
  let asking: { stop(): void } | null = null

  function enter(viewer: Viewer): void {
    present.add(viewer)
    viewer.peer.open()
  }

  async function leave(): Promise<Violation[]> {
    history.remark('all users leave')
    for (const [index, person] of people.entries()) {
      for (const device of person.devices.keys())
        person.act({ do: 'end', device, how: ENDINGS[index % ENDINGS.length]! })
    }
    const leftAt = performance.now() + GHOST_MS.silent
    const found = await agree(() => allowances().until(leftAt))
    asking?.stop()
    for (const { peer } of viewers) peer.end('left')
    return found
  }

  return {
    servers,
    store,
    postgres,
    databaseUrl,
    streaming: kafka && { kafka, owners: owners! },
    devices,
    history,
    people,
    viewers,
    enter,
    lagMs: lag.worstMs,
    async begin() {
      await prepare(options.users, people, servers.running()[0]!.process.url)
      for (const person of people)
        for (const device of person.devices.keys()) person.act({ do: 'connect', device })
      for (const viewer of viewers.slice(0, options.firstViewers)) enter(viewer)
      const until = performance.now() + FIRST_MS_MAX
      const found = await agree(() => until)
      history.agreedAt = performance.now()
      if (found.length === 0) history.remark('all users are connected, and everything agrees')
      asking = keepAsking(options.viewers, ids, parts)
      return found
    },
    async quiet() {
      await Promise.all(people.map((person) => person.settled()))
      history.remark('quiet')
      // Of the last silent departures.
      const quietAt = performance.now() + GHOST_MS.silent
      const until = () => allowances().until(quietAt)
      return [...(await agree(until)), ...(await checkKeptChoices(history, servers, databaseUrl, until()))]
    },
    async finish() {
      const found = await leave()
      const emptyUntil = allowances().until(performance.now() + TIMES.offline_delay_ms) + SWEPT_MS
      found.push(...(await checkLeftovers(store, servers, emptyUntil)))
      if (kafka !== null) found.push(...(await checkRelayed(history, kafka.broker, emptyUntil)))
      for (const each of processes) found.push(...(await checkProcesses(each, history)))
      const final = allowances()
      return [
        ...found,
        ...checkVersions(history),
        ...checkFalseOffline(history, final),
        ...checkPrivacy(history, final.slackMs),
        ...checkGhosts(history, final, performance.now()),
      ]
    },
    async stop() {
      asking?.stop()
      lag.stop()
      for (const peer of [...devices, ...viewers.map((viewer) => viewer.peer)]) peer.end('closed')
      await Promise.all(processes.map((each) => each.endAll()))
      await kafka?.stop()
      await (store.kind === 'redis' ? store.redis.stop() : store.cluster.stop())
    },
  }
}

/** Contact lists and first choices, before the first user connects. */
async function prepare(users: readonly PlannedUser[], people: readonly Person[], url: string): Promise<void> {
  await Promise.all(
    users.map(async ({ id, contacts: list, choices }, index) => {
      const response = await contacts(url, id, list)
      if (!response.ok) throw new Error(`the contacts of ${id} were refused: ${response.status}`)
      for (const { field, value } of choices) {
        const { outcome } = await people[index]!.choose(field, value, 'http')
        if (outcome !== 'acknowledged') throw new Error(`the first choice of ${id} was ${outcome}`)
      }
    }),
  )
}
