// One device of a user, or one watcher, as a client of the protocol: it heartbeats, reconnects to any running
// server, resumes with the versions it knows, and records what it was shown. Unlike a real client it keeps every
// frame, also one with an old version.
import type { Activity, Presence, ServerFrame } from '@greendot/protocol'
import { webSocketUrl } from '../../../clients/client.ts'
import type { ServerProcess, Servers } from '../deployment/servers.ts'
import { TIMES } from '../deployment/times.ts'
import type { Connection, Ending } from '../history/history.ts'

/** Bun can end a connection without a closing handshake; the browser types lack it. */
type Socket = WebSocket & { terminate(): void }

const RECONNECT_MS = 100
const RECONNECT_SPREAD_MS = 400
const WELCOME_MS_MAX = 4_000
const RETRY_MS = 400
const WATCH_REF = 'watch'

export interface PeerOptions {
  userId: string
  device: string
  servers: Servers
  random: () => number
  /** The users to watch. */
  watch?: readonly string[]
  onConnection?(connection: Connection): void
  onPresence?(presence: Presence, via: 'snapshot' | 'change', server: string): void
  /** It has its snapshot, or not any more. */
  onWatching?(isWatching: boolean, server: string): void
}

export interface Peer {
  readonly userId: string
  isReady(): boolean
  server(): string | null
  open(): void
  setActivity(activity: Activity): void
  end(how: Exclude<Ending, 'lost'>): void
  /** Ends the connection without a goodbye and connects again. */
  reconnect(): void
  /** Sends a frame; resolves with whether it was acknowledged, or null when the connection ended. */
  ask(frame: object): Promise<boolean | null>
}

export function createPeer(options: PeerOptions): Peer {
  const { userId, device, servers, random, watch = [], onConnection, onPresence, onWatching } = options
  let socket: Socket | null = null
  let at: ServerProcess | null = null
  let connection: Connection | null = null
  let intent: 'away' | 'connected' | 'silent' = 'away'
  let isReady = false
  let activity: Activity = 'active'
  let beating: Timer | null = null
  let asks = 0
  const asked = new Map<string, (isAcknowledged: boolean | null) => void>()
  const known = new Map<string, number>()

  function connect(): void {
    if (intent !== 'connected' || socket !== null) return
    const choices = servers.running()
    at = choices[Math.floor(random() * choices.length)] ?? null
    if (at === null) {
      later()
      return
    }
    const opened = new WebSocket(
      webSocketUrl(at.process.url, userId, { deviceId: device, platform: 'web' }),
    ) as Socket
    socket = opened
    const server = at
    const welcomeTimer = setTimeout(() => lose(opened), WELCOME_MS_MAX)
    opened.onmessage = ({ data }) => {
      if (socket !== opened) return
      const frame = JSON.parse(String(data)) as ServerFrame
      if (frame.type === 'welcome') clearTimeout(welcomeTimer)
      receive(frame, opened, server)
    }
    opened.onerror = () => {}
    opened.onclose = () => {
      clearTimeout(welcomeTimer)
      lose(opened)
    }
  }

  const later = (): void => {
    setTimeout(connect, RECONNECT_MS + random() * RECONNECT_SPREAD_MS)
  }

  function endedBy(ending: Ending): null {
    if (connection !== null) Object.assign(connection, { endedAt: performance.now(), ending })
    return null
  }

  function detach(ending: Ending): Socket | null {
    const former = socket
    socket = null
    if (beating !== null) clearInterval(beating)
    beating = null
    connection = endedBy(ending)
    if (isReady && at !== null) onWatching?.(false, at.name)
    isReady = false
    for (const settle of asked.values()) settle(null)
    asked.clear()
    return former
  }

  function lose(lost: Socket): void {
    if (socket !== lost) return
    detach('lost')
    lost.terminate()
    later()
  }

  const send = (frame: object) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
  }
  const beat = () => {
    if (intent === 'connected') send({ type: 'heartbeat', activity })
  }

  function sendWatch(): void {
    send({ type: 'watch', user_ids: watch, known: Object.fromEntries(known), ref: WATCH_REF })
  }

  function take(presence: Presence, via: 'snapshot' | 'change', server: ServerProcess): void {
    known.set(presence.user_id, presence.version)
    onPresence?.(presence, via, server.name)
  }

  function receive(frame: ServerFrame, from: Socket, server: ServerProcess): void {
    switch (frame.type) {
      case 'welcome':
        connection = {
          device,
          server: server.name,
          openedAt: performance.now(),
          endedAt: Number.POSITIVE_INFINITY,
          ending: null,
        }
        onConnection?.(connection)
        beat()
        beating = setInterval(beat, TIMES.heartbeat_interval_ms)
        if (watch.length > 0) sendWatch()
        else isReady = true
        break
      case 'presence_state':
        for (const presence of frame.states) take(presence, 'snapshot', server)
        break
      case 'presence_change':
        for (const presence of frame.changes) take(presence, 'change', server)
        break
      case 'ok':
      case 'error': {
        if (frame.ref === WATCH_REF) {
          if (frame.type === 'error') return void setTimeout(() => socket === from && sendWatch(), RETRY_MS)
          isReady = true
          onWatching?.(true, server.name)
          return
        }
        const settle = asked.get(String(frame.ref))
        asked.delete(String(frame.ref))
        settle?.(frame.type === 'ok')
        break
      }
      case 'drain':
        setTimeout(() => socket === from && reconnect(), frame.reconnect_after_ms)
        break
      case 'self':
        break
    }
  }

  function reconnect(): void {
    detach('closed')?.terminate()
    if (intent === 'connected') connect()
  }

  return {
    userId,
    isReady: () => isReady && intent === 'connected',
    server: () => (connection === null ? null : connection.server),
    open() {
      // A client that stopped its heartbeats still has the old connection.
      detach('closed')?.terminate()
      intent = 'connected'
      connect()
    },
    setActivity(next) {
      activity = next
      beat()
    },
    end(how) {
      const isWelcome = connection !== null
      if (isWelcome && how === 'silent') {
        // The socket stays open until the server closes it.
        intent = 'silent'
        connection = endedBy('silent')
        return
      }
      intent = 'away'
      const isGoodbye = isWelcome && how === 'left'
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
  }
}
