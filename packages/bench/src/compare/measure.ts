// The figures of one server for a comparison of two checkouts: the rate of connects, connect to welcome,
// welcome to the snapshot of 18 contacts, and batch queries of 200 ids. Latency counts from the instant when
// something was due, so a server that stalls the load does not look faster.
import { createLatencies, type Latencies } from '../figures/histogram.ts'
import { now, sleep, within } from '../platform/clock.ts'
import { askSteadily, backendOf } from '../scenarios/queries.ts'
import type { Subject } from '../subject/subject.ts'
import { createAddresses, firstAddress } from '../wires/addresses.ts'
import { textFrame } from '../wires/frames.ts'
import { countUpdates, greendotPath } from '../wires/greendot-wire.ts'
import { mintToken } from '../wires/tokens.ts'
import { BenchSocket } from '../wires/web-socket.ts'
import { userName } from '../wires/wire.ts'

const CONTACTS = 18
const QUERY_IDS = 200
const PARALLEL = 100
const CONNECTS_PER_SECOND = 200
const QUERIES_PER_SECOND = 50
const QUERY_WARM_SECONDS = 1
const PHASE_MS_MAX = 60_000

export const FIGURES = {
  connectRate: 'connects a second',
  welcomeP50: 'connect to welcome, p50 ms',
  welcomeP99: 'connect to welcome, p99 ms',
  snapshotP50: 'welcome to snapshot, p50 ms',
  snapshotP99: 'welcome to snapshot, p99 ms',
  queryP50: 'query of 200, p50 ms',
  queryP99: 'query of 200, p99 ms',
} as const

export type Figures = Record<keyof typeof FIGURES, number>

interface Load {
  /** Connects a user and watches the contacts; resolves when the snapshot is complete. */
  connect(user: number, dueAt: number, latencies: { welcome: Latencies; snapshot: Latencies }): Promise<void>
  close(): void
}

export interface Size {
  /** Users that connect as fast as possible; the users after them connect at a fixed rate and are timed. */
  fast: number
  /** Length of the timed connects and of the timed queries. */
  seconds: number
}

export async function measure(subject: Subject, { fast, seconds }: Size): Promise<Figures> {
  const timed = CONNECTS_PER_SECOND * seconds
  const load = createLoad(subject, fast + timed)
  try {
    const uncounted = { welcome: createLatencies(), snapshot: createLatencies() }
    const startedAt = now()
    let next = 0
    const connectNext = async (): Promise<void> => {
      while (next < fast) await load.connect(next++, now(), uncounted)
    }
    await within(PHASE_MS_MAX, 'connecting', Promise.all(Array.from({ length: PARALLEL }, connectNext)))
    const connectRate = (fast / (now() - startedAt)) * 1000

    const latencies = { welcome: createLatencies(), snapshot: createLatencies() }
    const connecting: Promise<void>[] = []
    const timedFrom = now()
    for (let count = 0; count < timed; count++) {
      const dueAt = timedFrom + (count / CONNECTS_PER_SECOND) * 1000
      await sleep(dueAt - now())
      // A timer may fire a little early.
      connecting.push(load.connect(fast + count, Math.min(dueAt, now()), latencies))
    }
    await within(PHASE_MS_MAX, 'connecting at a fixed rate', Promise.all(connecting))

    const asking = { users: fast + timed, size: QUERY_IDS, perSecond: QUERIES_PER_SECOND }
    const backend = backendOf(subject)
    await askSteadily(backend, { ...asking, seconds: QUERY_WARM_SECONDS })
    const queries = await askSteadily(backend, { ...asking, seconds })
    return {
      connectRate,
      welcomeP50: latencies.welcome.at(50),
      welcomeP99: latencies.welcome.at(99),
      snapshotP50: latencies.snapshot.at(50),
      snapshotP99: latencies.snapshot.at(99),
      queryP50: queries.at(50),
      queryP99: queries.at(99),
    }
  } finally {
    load.close()
  }
}

function createLoad({ target }: Subject, users: number): Load {
  const tokens = Array.from({ length: users }, (_, user) => mintToken(target, user, now()))
  const nextAddress = createAddresses(firstAddress(now(), 0))
  const address = { host: target.host, port: target.port, nextAddress }
  const sockets: BenchSocket[] = []
  // Neighbours before and after, as on the ring of the scenarios.
  const watchOf = (user: number): Uint8Array => {
    const contacts = Array.from({ length: CONTACTS }, (_, step) => {
      const distance = (step >> 1) + 1
      return userName((user + (step % 2 === 0 ? distance : users - distance)) % users)
    })
    return textFrame(JSON.stringify({ type: 'watch', user_ids: contacts }))
  }
  return {
    connect(user, dueAt, { welcome, snapshot }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      let welcomeAt = 0
      let missing = CONTACTS
      const socket = new BenchSocket(address, greendotPath(tokens[user]!, user), {
        onOpen() {},
        onBytes() {},
        onEnd: (why) => reject(new Error(why)),
        onMessage(bytes, from, to) {
          const head = bytes.toString('latin1', from, Math.min(to, from + 30))
          if (head.startsWith('{"type":"welcome"')) {
            welcomeAt = now()
            welcome.record(welcomeAt - dueAt)
            socket.send(watchOf(user))
          } else if (head.startsWith('{"type":"presence_state"') && missing > 0) {
            missing -= countUpdates(bytes, from, to)
            if (missing > 0) return
            snapshot.record(now() - welcomeAt)
            resolve()
          }
        },
      })
      sockets.push(socket)
      return promise
    },
    close() {
      for (const socket of sockets) socket.end()
    },
  }
}
