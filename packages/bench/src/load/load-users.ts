// The users of one load process: a connection each, the changes received, and their latency. Most connections
// are only counted, which is cheap. A share of them is exact: these give the latencies, and they prove that no
// change was lost.

import { createLatencies, type Latencies } from '../figures/histogram.ts'
import { now } from '../platform/clock.ts'
import { createAddresses } from '../wires/addresses.ts'
import { mintToken } from '../wires/tokens.ts'
import type { Connection, ConnectionEvents, Target, Wire } from '../wires/wire.ts'
import { type Graph, makeGraph } from './graphs.ts'
import type { Counts, Inspection, Job, Report } from './orders.ts'
import { createSchedule, type Schedule } from './schedule.ts'

const SAMPLES_MAX = 5
const SCATTER = 0x9e3779b1

/** A connection and its counters. */
interface Member {
  connection: Connection | null
  isReady: boolean
  frames: number
  /** By position of the contact, the newest serial received; null for connections that are only counted. */
  received: Int32Array | null
}

export interface LoadUsers {
  users: readonly number[]
  schedule: Schedule
  counts: Counts
  /** Opens a user's connection; `onReady` or `onFailed` is called once. */
  open(user: number, onReady: () => void, onFailed: () => void): void
  /** Null while it is not ready: nothing must be sent before that. */
  connectionOf(user: number): Connection | null
  isExact(user: number): boolean
  /** Ends a connection that is ready; false if there is none. */
  disconnect(user: number): boolean
  /** Makes a change of a user and notes how late it is. */
  make(change: number): void
  mark(): void
  /** Called from now on with each user that loses its connection. */
  onLost(lost: (user: number) => void): void
  /** Keeps so many payload sizes of pushed frames. */
  record(frames: number): void
  recorded(): number[]
  report(): Report
  inspect(): Inspection
  close(): void
}

export function createLoadUsers(job: Job, wire: Wire): LoadUsers {
  const graph: Graph = makeGraph(job.graph)
  const schedule = createSchedule(job.schedule)
  const users = Array.from({ length: job.graph.users }, (_, user) => user).filter(
    (user) => user % job.of === job.index,
  )
  const tokens = new Map(users.map((user) => [user, mintToken(job.target, user, now())]))
  const target: Target = {
    host: job.target.host,
    port: job.target.port,
    extra: job.target.extra,
    nextAddress: createAddresses(job.firstAddress),
    token: (user) => tokens.get(user)!,
  }
  const members = new Map<number, Member>()
  const counts: Counts = {
    ready: 0,
    arrivals: 0,
    closed: 0,
    errors: 0,
    bytesIn: 0,
    bytesOut: 0,
    frames: 0,
    updates: 0,
    ownFrames: 0,
    exactUpdates: 0,
    superseded: 0,
    backwards: 0,
    unmade: 0,
    gone: 0,
    changesMade: 0,
  }
  const samples: string[] = []
  const byPhase: Latencies[] = []
  const madeByPhase: Latencies[] = []
  let recent = createLatencies()
  let sizes: number[] = []
  let sizesMax = 0
  let isMarked = false
  let lost: ((user: number) => void) | null = null

  // The number of the user decides, so that it does not matter how many load processes there are; it is
  // scattered, so that the exact ones are not all in one of them.
  const isExact = (user: number): boolean => (Math.imul(user, SCATTER) >>> 8) % job.exactEvery === 0

  function countError(what: string): void {
    counts.errors++
    if (samples.length < SAMPLES_MAX) samples.push(what)
  }

  function receive(member: Member, contacts: readonly number[], user: number, serial: number): void {
    const position = contacts.indexOf(user)
    const last = member.received![position]!
    counts.exactUpdates++
    if (serial <= last) {
      // A repeat of the mark is harmless; a step back is not.
      if (serial < last) counts.backwards++
      return
    }
    const at = now()
    // A newer change ends the wait for the older ones that it replaced.
    for (let one = last + 1; one <= serial; one++) {
      const change = schedule.changeOf(user, one)
      const phase = schedule.phaseOf(change)
      if (phase < 0) {
        counts.unmade++
        continue
      }
      const waitedMs = at - schedule.dueAt(change)
      byPhase[phase] ??= createLatencies()
      byPhase[phase].record(waitedMs)
      recent.record(waitedMs)
    }
    counts.superseded += serial - last - 1
    member.received![position] = serial
  }

  function open(user: number, onReady: () => void, onFailed: () => void): void {
    const contacts = Array.from(graph.contactsOf(user))
    const exact = isExact(user)
    const before = members.get(user)
    const member: Member = {
      connection: null,
      isReady: false,
      frames: before?.frames ?? 0,
      received: exact ? (before?.received ?? new Int32Array(contacts.length)) : null,
    }
    members.set(user, member)
    const events: ConnectionEvents = {
      onReady() {
        member.isReady = true
        counts.ready++
        counts.arrivals++
        onReady()
      },
      onDelivery: (target, serial) => receive(member, contacts, target, serial),
      onFrame(payloadBytes, updates) {
        counts.frames++
        counts.updates += updates
        member.frames++
        if (sizes.length < sizesMax) sizes.push(payloadBytes)
      },
      onOwnFrame(payloadBytes) {
        counts.ownFrames++
        if (sizes.length < sizesMax) sizes.push(payloadBytes)
      },
      onGone() {
        if (isMarked) counts.gone++
      },
      onBytes(bytes) {
        counts.bytesIn += bytes
      },
      onSent(bytes) {
        counts.bytesOut += bytes
      },
      onDrain(afterMs) {
        setTimeout(() => {
          if (disconnect(user)) lost?.(user)
        }, afterMs)
      },
      onError: countError,
      onClose() {
        counts.closed++
        member.connection = null
        if (member.isReady) {
          member.isReady = false
          counts.ready--
          lost?.(user)
        } else onFailed()
      },
    }
    member.connection = wire.open(target, { user, contacts, isExact: exact, events })
  }

  function connectionOf(user: number): Connection | null {
    const member = members.get(user)
    return member?.isReady ? member.connection : null
  }

  function disconnect(user: number): boolean {
    const member = members.get(user)
    if (member === undefined || !member.isReady) return false
    member.isReady = false
    counts.ready--
    member.connection?.close()
    member.connection = null
    return true
  }

  function inspect(): Inspection {
    let pairs = 0
    let behind = 0
    let due = 0
    let exactConnections = 0
    let framesMax = 0
    for (const [user, { received, frames }] of members) {
      framesMax = Math.max(framesMax, frames)
      if (received === null) continue
      exactConnections++
      for (const [position, contact] of graph.contactsOf(user).entries()) {
        const made = schedule.serialsOf(contact)
        pairs++
        due += made
        if (received[position] !== made) behind++
      }
    }
    const none = createLatencies()
    const encoded = (histograms: Latencies[]) =>
      schedule.phases.map((_, phase) => (histograms[phase] ?? none).encode())
    return {
      phases: encoded(byPhase),
      lateness: encoded(madeByPhase),
      pairs,
      behind,
      due,
      exactConnections,
      framesMax,
    }
  }

  return {
    users,
    schedule,
    counts,
    open,
    inspect,
    isExact,
    disconnect,
    connectionOf,
    make(change) {
      const connection = connectionOf(schedule.userOf(change))
      if (connection === null) return
      connection.change(schedule.serialOf(change))
      counts.changesMade++
      const phase = schedule.phaseOf(change)
      madeByPhase[phase] ??= createLatencies()
      madeByPhase[phase].record(now() - schedule.dueAt(change))
    },
    mark() {
      isMarked = true
      for (const member of members.values()) {
        member.connection?.mark()
        member.frames = 0
        member.received?.fill(0)
      }
    },
    onLost(listener) {
      lost = listener
    },
    record(frames) {
      sizes = []
      sizesMax = frames
    },
    recorded: () => sizes,
    report() {
      const report = { counts: { ...counts }, samples: [...samples], recent: recent.encode() }
      recent = createLatencies()
      return report
    },
    close() {
      for (const { connection } of members.values()) connection?.close()
      members.clear()
    },
  }
}
