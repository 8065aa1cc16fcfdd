// A client as it should be: beats, comes back elsewhere soon and spread out when its connection dies,
// goes when it is told to, resumes with the versions it knows and never believes an older one. It
// knows nothing but what the server tells it.
import {
  type Activity,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
  type Status,
} from '@greendot/protocol'
import { webSocketUrl } from '../client.ts'

/** Ends it without a closing handshake; the types of browsers do not know it. */
type Socket = WebSocket & { terminate(): void }

const RECONNECT_FIRST_MS = 200
const RECONNECT_SPREAD_MS = 800
const RECONNECT_MS_MAX = 2_000
const WELCOME_MS_MAX = 5_000
const ASK_AGAIN_MS = 500
const WATCH_REF = 'watch'
const TEXT_REF = 'text'

export interface Belief {
  version: number
  status: Status
  text: string
  hasDevices: boolean
}

export interface ClientOptions {
  userId: string
  watch: readonly string[]
  /** Where it may connect; looked at for every attempt. */
  urls(): readonly string[]
  /** It believes something new of somebody; `before` is undefined the first time. */
  onBelief(userId: string, belief: Belief, before: Belief | undefined): void
}

export interface Client {
  readonly userId: string
  readonly beliefs: ReadonlyMap<string, Belief>
  /** Connects; from now on it wants to stay. Resolves when it was welcomed and told what it watches. */
  open(url?: string): Promise<void>
  /** Welcomed and told what it watches. */
  isReady(): boolean
  url(): string | null
  beat(): void
  setActivity(activity: Activity): void
  /** Repeated until the server took it. */
  setText(text: string): void
  /** Once, as it is; nobody repeats it should it be lost. */
  tell(frame: object): void
  /** Says goodbye. */
  leave(): void
  /** The connection ends without a word, and it does not come back. */
  vanish(): void
  /** The connection stays and nothing is said any more. */
  fallSilent(): void
}

export function createClient({ userId, watch, urls, onBelief }: ClientOptions): Client {
  const beliefs = new Map<string, Belief>()
  let socket: Socket | null = null
  let at: string | null = null
  let state: 'away' | 'wanted' | 'silent' = 'away'
  let isWelcome = false
  let isTold = false
  let activity: Activity = 'active'
  let unsaidText: string | null = null
  let failures = 0
  let ready: PromiseWithResolvers<void> | null = null

  function connect(preferred?: string): void {
    const choices = urls().filter((url, _, all) => all.length === 1 || url !== at)
    const url = preferred ?? choices[Math.floor(Math.random() * choices.length)]
    if (url === undefined) return void setTimeout(() => state === 'wanted' && connect(), RECONNECT_FIRST_MS)
    const address = webSocketUrl(url, userId, { deviceId: `of-${userId}`, platform: 'web' })
    const opened = new WebSocket(address) as Socket
    at = url
    socket = opened
    const patience = setTimeout(() => lose(opened), WELCOME_MS_MAX)
    opened.onmessage = ({ data }) => {
      if (socket !== opened) return
      const frame = JSON.parse(String(data)) as ServerFrame
      if (frame.type === 'welcome') clearTimeout(patience)
      hear(frame, opened)
    }
    opened.onerror = () => {}
    opened.onclose = () => {
      clearTimeout(patience)
      lose(opened)
    }
  }

  function detach(): Socket | null {
    const former = socket
    socket = null
    isWelcome = false
    isTold = false
    return former
  }

  function lose(lost: Socket): void {
    if (socket !== lost) return
    detach()
    lost.terminate()
    if (state !== 'wanted') return
    const spreadMs = Math.min(RECONNECT_SPREAD_MS * 2 ** failures, RECONNECT_MS_MAX)
    const firstMs = failures === 0 ? RECONNECT_FIRST_MS : 0
    failures++
    setTimeout(() => state === 'wanted' && socket === null && connect(), firstMs + Math.random() * spreadMs)
  }

  const send = (frame: object) => socket?.send(JSON.stringify(frame))

  function hear(frame: ServerFrame, from: Socket): void {
    switch (frame.type) {
      case 'welcome':
        isWelcome = true
        failures = 0
        beat()
        askToWatch()
        if (unsaidText !== null) sayText()
        break
      case 'presence_state':
        for (const presence of frame.states) believe(presence)
        break
      case 'presence_change':
        for (const presence of frame.changes) believe(presence)
        break
      case 'ok':
        if (frame.ref === WATCH_REF) told()
        else if (frame.ref === `${TEXT_REF} ${unsaidText}`) unsaidText = null
        break
      case 'error':
        if (frame.ref === WATCH_REF) again(from, askToWatch)
        else if (String(frame.ref).startsWith(TEXT_REF)) again(from, sayText)
        break
      case 'drain':
        setTimeout(() => {
          if (socket !== from || state !== 'wanted') return
          detach()
          from.close(1000)
          connect()
        }, frame.reconnect_after_ms)
        break
      case 'self':
        break
    }
  }

  function again(on: Socket, ask: () => void): void {
    setTimeout(() => socket === on && ask(), ASK_AGAIN_MS)
  }

  function told(): void {
    isTold = true
    ready?.resolve()
    ready = null
  }

  function askToWatch(): void {
    if (watch.length === 0) {
      told()
      return
    }
    const known: Record<string, number> = {}
    for (const [id, { version }] of beliefs) known[id] = version
    send({ type: 'watch', user_ids: watch, known, ref: WATCH_REF })
  }

  function sayText(): void {
    if (unsaidText === null) return
    send({ type: 'set_custom_status', text: unsaidText, ref: `${TEXT_REF} ${unsaidText}` })
  }

  function believe({ user_id: id, version, status, custom_status, devices }: Presence): void {
    const before = beliefs.get(id)
    // Nothing known replaces anything; otherwise only what is newer counts.
    if (before !== undefined && version !== 0 && version <= before.version) return
    // Nobody here hides from anybody, so there always is one.
    const belief = {
      version,
      status: status as Status,
      text: custom_status?.text ?? '',
      hasDevices: devices.length > 0,
    }
    beliefs.set(id, belief)
    onBelief(id, belief, before)
  }

  function beat(): void {
    if (isWelcome && state === 'wanted')
      socket?.send(activity === 'active' ? HEARTBEAT_ACTIVE : HEARTBEAT_IDLE)
  }

  return {
    userId,
    beliefs,
    open(url) {
      state = 'wanted'
      ready ??= Promise.withResolvers()
      const { promise } = ready
      // Whoever fell silent still has the old connection.
      detach()?.terminate()
      connect(url)
      return promise
    },
    isReady: () => isTold && state === 'wanted',
    url: () => (socket === null ? null : at),
    beat,
    setActivity(next) {
      activity = next
      beat()
    },
    setText(text) {
      unsaidText = text
      if (isWelcome) sayText()
    },
    tell: (frame) => void send(frame),
    leave() {
      state = 'away'
      if (isWelcome) send({ type: 'leave' })
      else detach()?.terminate()
    },
    vanish() {
      state = 'away'
      detach()?.terminate()
    },
    fallSilent() {
      state = 'silent'
    },
  }
}
