// One device of a user, or one watcher, as a client of the protocol: it heartbeats, reconnects to any process that
// serves, resumes with the versions it knows, and tells what it was shown. Unlike a real client it keeps every frame, also
// one with an old version.
import {
  type Activity,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
} from '@greendot/protocol'
import type { Connection, Ending } from '../../faults/random/history/history.ts'
import type { Random } from '../time/random.ts'
import type { Deployment } from '../world/deployment.ts'
import type { Ground } from '../world/ground.ts'
import type { ServerProcess } from '../world/process.ts'
import { type ClientSocket, openSocket } from './socket.ts'

const RECONNECT_MS = 100
const RECONNECT_SPREAD_MS = 400
const WELCOME_MS_MAX = 5_000
const RETRY_MS = 400
const WATCH_REF = 'watch'

/** A connection from its first packet. `openedAt` is when it was welcomed: infinity if it never was. */
export interface Attempt extends Connection {
  triedAt: number
  /** When its process was killed; infinity if it was not. The client notices later. */
  killedAt: number
}

export interface PeerOptions {
  userId: string
  device: string
  ground: Ground
  deployment: Deployment
  random: Random
  /** The users to watch. */
  watch?: readonly string[]
  onAttempt?(attempt: Attempt): void
  onPresence?(presence: Presence, via: 'snapshot' | 'change', server: string): void
  /** It has its snapshot, or not any more. */
  onWatching?(isWatching: boolean, server: string): void
}

export interface Peer {
  readonly userId: string
  /** Its name in the network. */
  readonly name: string
  isReady(): boolean
  server(): string | null
  open(): void
  setActivity(activity: Activity): void
  end(how: Exclude<Ending, 'lost'>): void
  /** Ends the connection without a goodbye and connects again. */
  reconnect(): void
  /** Sends a frame; resolves with whether it was acknowledged, or null when the connection ended. */
  ask(frame: object): Promise<boolean | null>
  /** The process crashed: its machine resets the connection. */
  crashed(process: ServerProcess): void
}

export function createPeer(options: PeerOptions): Peer {
  const {
    userId,
    device,
    ground,
    deployment,
    random,
    watch = [],
    onAttempt,
    onPresence,
    onWatching,
  } = options
  const { timeline, network, settings } = ground
  const name = `${userId}/${device}`
  let socket: ClientSocket | null = null
  let at: ServerProcess | null = null
  let attempt: Attempt | null = null
  let intent: 'away' | 'connected' | 'silent' = 'away'
  let isReady = false
  let isWatching = false
  let activity: Activity = 'active'
  let asks = 0
  /** Grows with each connection, so that timers of a former one do nothing. */
  let generation = 0
  const asked = new Map<string, (isAcknowledged: boolean | null) => void>()
  const known = new Map<string, number>()

  const after = (ms: number, run: () => void) => timeline.at(timeline.now() + ms, run)

  function connect(): void {
    if (intent !== 'connected' || socket !== null) return
    const choices = deployment.serving('gateway')
    if (choices.length === 0) {
      later()
      return
    }
    const process = random.pick(choices)
    const mine = ++generation
    const isMine = () => mine === generation && socket !== null
    const current: Attempt = {
      device,
      server: process.name,
      triedAt: timeline.now(),
      openedAt: Number.POSITIVE_INFINITY,
      endedAt: Number.POSITIVE_INFINITY,
      ending: null,
      killedAt: Number.POSITIVE_INFINITY,
    }
    at = process
    attempt = current
    onAttempt?.(current)
    socket = openSocket({
      network,
      timeline,
      process,
      device: name,
      opening: { userId, deviceId: device, platform: 'web', activity: null, tokenExpiresAt: null },
      onText: (text) => {
        if (isMine()) receive(JSON.parse(text) as ServerFrame)
      },
      onClose: () => {
        if (isMine()) lose()
      },
    })
    after(WELCOME_MS_MAX, () => {
      if (isMine() && current.openedAt === Number.POSITIVE_INFINITY) lose()
    })
  }

  function later(): void {
    after(RECONNECT_MS + random.fraction() * RECONNECT_SPREAD_MS, connect)
  }

  function detach(ending: Ending): ClientSocket | null {
    const former = socket
    socket = null
    if (attempt !== null && attempt.ending === null)
      Object.assign(attempt, { endedAt: timeline.now(), ending })
    attempt = null
    if (isWatching && at !== null) onWatching?.(false, at.name)
    isWatching = false
    isReady = false
    for (const settle of asked.values()) settle(null)
    asked.clear()
    return former
  }

  function lose(): void {
    const isMeant = intent === 'connected'
    detach('lost')?.terminate()
    if (isMeant) later()
  }

  const send = (frame: object) => socket?.send(JSON.stringify(frame))

  function beat(): void {
    if (intent === 'connected') socket?.send(activity === 'active' ? HEARTBEAT_ACTIVE : HEARTBEAT_IDLE)
  }

  function keepBeating(mine: number): void {
    if (mine !== generation || socket === null) return
    beat()
    after(settings.heartbeatMs, () => keepBeating(mine))
  }

  function sendWatch(): void {
    send({ type: 'watch', user_ids: watch, known: Object.fromEntries(known), ref: WATCH_REF })
  }

  function take(presence: Presence, via: 'snapshot' | 'change'): void {
    known.set(presence.user_id, presence.version)
    onPresence?.(presence, via, at!.name)
  }

  function receive(frame: ServerFrame): void {
    switch (frame.type) {
      case 'welcome':
        attempt!.openedAt = timeline.now()
        keepBeating(generation)
        if (watch.length > 0) sendWatch()
        isReady = watch.length === 0
        break
      case 'presence_state':
        for (const presence of frame.states) take(presence, 'snapshot')
        break
      case 'presence_change':
        for (const presence of frame.changes) take(presence, 'change')
        break
      case 'ok':
      case 'error':
        answered(frame)
        break
      case 'drain': {
        const mine = generation
        after(frame.reconnect_after_ms, () => {
          if (mine === generation && socket !== null) reconnect()
        })
        break
      }
      case 'self':
        break
    }
  }

  function answered(frame: Extract<ServerFrame, { type: 'ok' | 'error' }>): void {
    if (frame.ref === WATCH_REF && frame.type === 'error') {
      const mine = generation
      after(RETRY_MS, () => {
        if (mine === generation) sendWatch()
      })
    } else if (frame.ref === WATCH_REF) {
      isReady = true
      isWatching = true
      onWatching?.(true, at!.name)
    } else {
      const settle = asked.get(String(frame.ref))
      asked.delete(String(frame.ref))
      settle?.(frame.type === 'ok')
    }
  }

  function reconnect(): void {
    if (intent !== 'connected') return
    detach('closed')?.terminate()
    connect()
  }

  return {
    userId,
    name,
    isReady: () => isReady && intent === 'connected',
    server: () => (isReady ? at!.name : null),
    open() {
      // A client that fell silent still has the old connection.
      detach('closed')?.terminate()
      intent = 'connected'
      connect()
    },
    setActivity(next) {
      activity = next
      if (isReady) beat()
    },
    end(how) {
      const isWelcome = attempt !== null && attempt.openedAt !== Number.POSITIVE_INFINITY
      const isGoodbye = isWelcome && how === 'left'
      intent = how === 'silent' ? 'silent' : 'away'
      if (how === 'silent') {
        const former = detach('silent')
        former?.fallSilent()
        return
      }
      if (isGoodbye) send({ type: 'leave' })
      const former = detach(isGoodbye ? 'left' : 'closed')
      // The goodbye is on its way; the server closes.
      if (!isGoodbye) former?.terminate()
    },
    reconnect,
    ask(frame) {
      if (!isReady || socket === null) return Promise.resolve(false)
      const ref = `ask-${++asks}`
      const { promise, resolve } = Promise.withResolvers<boolean | null>()
      asked.set(ref, resolve)
      send({ ...frame, ref })
      return promise
    },
    crashed(process) {
      if (at !== process || socket === null) return
      if (attempt !== null) attempt.killedAt = timeline.now()
      const mine = generation
      after(random.fraction() * settings.heartbeatMs, () => {
        if (mine === generation && socket !== null) lose()
      })
    },
  }
}
