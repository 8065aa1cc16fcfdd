// A client that follows the protocol: it sends heartbeats, reconnects to another gateway with jitter when its
// connection dies, moves when the server drains, resumes with the versions it knows and ignores older ones.
import {
  type Activity,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
  type Status,
} from '@greendot/protocol'
import { webSocketUrl } from '../clients/client.ts'

/** Bun can end a connection without a closing handshake; the browser types lack it. */
type Socket = WebSocket & { terminate(): void }

const RECONNECT_FIRST_MS = 200
const RECONNECT_SPREAD_MS = 800
const RECONNECT_MS_MAX = 2_000
const WELCOME_MS_MAX = 5_000
const RETRY_MS = 500
const WATCH_REF = 'watch'
const TEXT_REF = 'text'

export interface ShownState {
  version: number
  status: Status
  text: string
  hasDevices: boolean
}

export interface ClientOptions {
  userId: string
  watch: readonly string[]
  /** The gateways it may connect to, read for every attempt. */
  urls(): readonly string[]
  /** It was shown a new state; `before` is undefined the first time. */
  onState(userId: string, state: ShownState, before: ShownState | undefined): void
}

export interface Client {
  readonly userId: string
  readonly states: ReadonlyMap<string, ShownState>
  /** Connects, and reconnects from now on. Resolves when it has its welcome and its snapshot. */
  open(url?: string): Promise<void>
  /** It has its welcome and its snapshot. */
  isReady(): boolean
  url(): string | null
  beat(): void
  setActivity(activity: Activity): void
  /** Sent again until the server has acknowledged it. */
  setText(text: string): void
  /** Sends a frame once, without a retry. */
  send(frame: object): void
  /** Sends the goodbye frame. */
  leave(): void
  /** Ends the connection without a closing handshake, and does not reconnect. */
  terminate(): void
  /** Keeps the connection open and sends nothing any more. */
  stopHeartbeats(): void
}

export function createClient({ userId, watch, urls, onState }: ClientOptions): Client {
  const states = new Map<string, ShownState>()
  let socket: Socket | null = null
  let at: string | null = null
  let intent: 'away' | 'connected' | 'silent' = 'away'
  let isWelcome = false
  let hasSnapshot = false
  let activity: Activity = 'active'
  let pendingText: string | null = null
  let failures = 0
  let ready: PromiseWithResolvers<void> | null = null

  function connect(preferred?: string): void {
    const choices = urls().filter((url, _, all) => all.length === 1 || url !== at)
    const url = preferred ?? choices[Math.floor(Math.random() * choices.length)]
    if (url === undefined)
      return void setTimeout(() => intent === 'connected' && connect(), RECONNECT_FIRST_MS)
    const address = webSocketUrl(url, userId, { deviceId: `of-${userId}`, platform: 'web' })
    const opened = new WebSocket(address) as Socket
    at = url
    socket = opened
    const welcomeTimer = setTimeout(() => lose(opened), WELCOME_MS_MAX)
    opened.onmessage = ({ data }) => {
      if (socket !== opened) return
      const frame = JSON.parse(String(data)) as ServerFrame
      if (frame.type === 'welcome') clearTimeout(welcomeTimer)
      receive(frame, opened)
    }
    opened.onerror = () => {}
    opened.onclose = () => {
      clearTimeout(welcomeTimer)
      lose(opened)
    }
  }

  function detach(): Socket | null {
    const former = socket
    socket = null
    isWelcome = false
    hasSnapshot = false
    return former
  }

  function lose(lost: Socket): void {
    if (socket !== lost) return
    detach()
    lost.terminate()
    if (intent !== 'connected') return
    const spreadMs = Math.min(RECONNECT_SPREAD_MS * 2 ** failures, RECONNECT_MS_MAX)
    const firstMs = failures === 0 ? RECONNECT_FIRST_MS : 0
    failures++
    setTimeout(
      () => intent === 'connected' && socket === null && connect(),
      firstMs + Math.random() * spreadMs,
    )
  }

  const send = (frame: object) => socket?.send(JSON.stringify(frame))

  function receive(frame: ServerFrame, from: Socket): void {
    switch (frame.type) {
      case 'welcome':
        isWelcome = true
        failures = 0
        beat()
        sendWatch()
        if (pendingText !== null) sendText()
        break
      case 'presence_state':
        for (const presence of frame.states) apply(presence)
        break
      case 'presence_change':
        for (const presence of frame.changes) apply(presence)
        break
      case 'ok':
        if (frame.ref === WATCH_REF) markReady()
        else if (frame.ref === `${TEXT_REF} ${pendingText}`) pendingText = null
        break
      case 'error':
        if (frame.ref === WATCH_REF) retry(from, sendWatch)
        else if (String(frame.ref).startsWith(TEXT_REF)) retry(from, sendText)
        break
      case 'drain':
        setTimeout(() => {
          if (socket !== from || intent !== 'connected') return
          detach()
          from.close(1000)
          connect()
        }, frame.reconnect_after_ms)
        break
      case 'self':
        break
    }
  }

  function retry(on: Socket, ask: () => void): void {
    setTimeout(() => socket === on && ask(), RETRY_MS)
  }

  function markReady(): void {
    hasSnapshot = true
    ready?.resolve()
    ready = null
  }

  function sendWatch(): void {
    if (watch.length === 0) {
      markReady()
      return
    }
    const known: Record<string, number> = {}
    for (const [id, { version }] of states) known[id] = version
    send({ type: 'watch', user_ids: watch, known, ref: WATCH_REF })
  }

  function sendText(): void {
    if (pendingText === null) return
    send({ type: 'set_custom_status', text: pendingText, ref: `${TEXT_REF} ${pendingText}` })
  }

  function apply({ user_id: id, version, status, custom_status, devices }: Presence): void {
    const before = states.get(id)
    // Version 0 means unknown and always counts; otherwise only a newer version counts.
    if (before !== undefined && version !== 0 && version <= before.version) return
    // Users of fault tests hide nothing, so the status is never null.
    const state = {
      version,
      status: status as Status,
      text: custom_status?.text ?? '',
      hasDevices: devices.length > 0,
    }
    states.set(id, state)
    onState(id, state, before)
  }

  function beat(): void {
    if (isWelcome && intent === 'connected')
      socket?.send(activity === 'active' ? HEARTBEAT_ACTIVE : HEARTBEAT_IDLE)
  }

  return {
    userId,
    states,
    open(url) {
      intent = 'connected'
      ready ??= Promise.withResolvers()
      const { promise } = ready
      // A client that stopped its heartbeats still has the old connection.
      detach()?.terminate()
      connect(url)
      return promise
    },
    isReady: () => hasSnapshot && intent === 'connected',
    url: () => (socket === null ? null : at),
    beat,
    setActivity(next) {
      activity = next
      beat()
    },
    setText(text) {
      pendingText = text
      if (isWelcome) sendText()
    },
    send: (frame) => void send(frame),
    leave() {
      intent = 'away'
      if (isWelcome) send({ type: 'leave' })
      else detach()?.terminate()
    },
    terminate() {
      intent = 'away'
      detach()?.terminate()
    },
    stopHeartbeats() {
      intent = 'silent'
    },
  }
}
