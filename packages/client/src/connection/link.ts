// Keeps one connection to the server. Besides the connection in use there may be an attempt under way: after
// a loss, after `drain`, or to return to WebSockets. The new connection takes over with its welcome and only
// then the old one is closed, so that a planned change of server is not visible. Pauses between attempts grow
// with full jitter, so that clients do not reconnect all at the same time.
import type { Activity, ClientFrame } from '@greendot/protocol'
import type { Runtime, Timer } from '../platform.ts'
import type { DotFailure } from '../types.ts'
import {
  type CloseReason,
  type Dial,
  type Gone,
  type Incoming,
  isGone,
  type Transport,
  type Welcome,
} from './transport.ts'

const PAUSE_MS_FIRST = 500
const PAUSE_MS_MAX = 30_000
/** After a connection that lasted this long, pauses start short again. */
const STEADY_MS = 10_000
/** From fetching the token to the welcome. */
const WELCOME_MS_MAX = 15_000
/** How long the answer to a probe may take before the connection counts as dead. */
const PROBE_MS_MAX = 5_000
const PROBE_REF = 'alive'
/** After so many sockets in a row without a single frame, HTTP is tried. */
const SILENT_SOCKETS_MAX = 3
const SOCKET_AGAIN_MS = 120_000
/** After `too_often` the pause is at least that of so many failures. */
const FAILURES_WHEN_TOO_OFTEN = 5

/** Full jitter: a random part of the pause, which doubles with every failure. */
export const pauseMs = (failures: number, random: number): number =>
  random * Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** failures)

export interface Link {
  start(): void
  /** Closes the connection without `leave`. */
  stop(): void
  isLive(): boolean
  /** Dropped while there is no connection. */
  send(frame: ClientFrame): void
  /** Sends a heartbeat now; the next one follows a full interval later. */
  beat(): void
  /** The network may have changed, or the machine has slept: probe or reconnect now. */
  poke(): void
}

export interface LinkParts {
  runtime: Runtime
  /** Undefined if there are no WebSockets, or `transport` excludes them. */
  dialSocket: Dial | undefined
  /** Undefined if `transport` excludes HTTP. */
  dialHttp: Dial | undefined
  token(): Promise<string>
  activity(): Activity
  /** Like `setInterval`, but keeps its pace in hidden pages. */
  pulse(intervalMs: number, run: () => void): Timer
  onWelcome(welcome: Welcome): void
  onFrame(frame: Incoming): void
  onDown(): void
  /** This device has left, here or in another tab, or was disconnected. It does not come back by itself. */
  onGone(how: Gone): void
  onError(failure: DotFailure): void
}

interface Connection {
  transport: Transport
  isSocket: boolean
  welcomedAt: number
}

export function createLink(parts: LinkParts): Link {
  const { runtime, dialSocket, dialHttp, pulse, onFrame, onError } = parts
  let isWanted = false
  let current: Connection | null = null
  /** The attempt under way. Callbacks of an older attempt compare identities and do nothing. */
  let opening: { transport: Transport | null; limit: Timer } | null = null
  let retry: Timer | null = null
  let beats: Timer | null = null
  let probe: Timer | null = null
  let intervalMs = 0
  let ttlMs = 0
  let beatAt = 0
  let receivedAt = 0
  let failures = 0
  let refusals = 0
  let silentSockets = 0
  let wasSocket = false

  function tryLater(delayMs: number): void {
    retry?.stop()
    retry = runtime.after(delayMs, attempt)
  }

  /** After a failure or a loss: at once if waiting cannot help, otherwise after a growing pause. */
  function tryAgain(why: CloseReason): void {
    // The first refusal needs a new token, and a missed heartbeat only a new connection.
    if ((why === 'refused' && ++refusals === 1) || why === 'silent') return void attempt()
    if (why === 'too_often') failures = Math.max(failures, FAILURES_WHEN_TOO_OFTEN)
    tryLater(pauseMs(failures++, runtime.random()))
  }

  /** WebSockets first. After several silent sockets every other attempt uses HTTP. */
  function chooseSocket(): boolean {
    return !dialHttp || silentSockets < SILENT_SOCKETS_MAX || !wasSocket
  }

  async function attempt(): Promise<void> {
    retry?.stop()
    retry = null
    if (!isWanted || opening) return
    const mine = {
      transport: null as Transport | null,
      limit: runtime.after(WELCOME_MS_MAX, () => fail('lost')),
    }
    opening = mine
    // A replacement for a working connection is a WebSocket if possible.
    const isSocket = dialSocket !== undefined && (current !== null || chooseSocket())
    wasSocket = isSocket
    let hasReceived = false

    function fail(why: CloseReason): void {
      if (opening !== mine) return
      dropAttempt()
      if (isSocket) silentSockets = hasReceived ? 0 : silentSockets + 1
      if (isGone(why)) leave(why)
      else if (current && !current.isSocket) tryLater(SOCKET_AGAIN_MS)
      else tryAgain(why)
    }

    try {
      const token = await parts.token()
      if (opening !== mine) return
      const dial = isSocket ? dialSocket! : dialHttp!
      const transport = dial(
        { token, activity: parts.activity() },
        {
          frame(frame) {
            hasReceived = true
            if (current?.transport === transport) receive(frame)
            else if (frame.type === 'welcome')
              welcome({ transport, isSocket, welcomedAt: runtime.now() }, frame)
            else if (frame.type === 'error') onError(frame)
          },
          closed(why) {
            if (current?.transport === transport) lose(why)
            else fail(why)
          },
        },
      )
      mine.transport = transport
    } catch (error) {
      // The token could not be fetched, or the URL is invalid.
      onError({ code: 'unauthorized', message: String(error) })
      hasReceived = true
      fail('lost')
    }
  }

  function dropAttempt(): void {
    opening?.limit.stop()
    opening?.transport?.close()
    opening = null
  }

  function welcome(connection: Connection, frame: Welcome): void {
    opening?.limit.stop()
    opening = null
    current?.transport.close()
    current = connection
    beatAt = receivedAt = connection.welcomedAt
    intervalMs = frame.heartbeat_interval_ms
    ttlMs = frame.heartbeat_ttl_ms
    if (connection.isSocket) silentSockets = 0
    else if (dialSocket) tryLater(SOCKET_AGAIN_MS)
    beats?.stop()
    stopProbe()
    beats = pulse(intervalMs, onPulse)
    parts.onWelcome(frame)
  }

  function receive(frame: Incoming): void {
    receivedAt = runtime.now()
    stopProbe()
    // If the timer is late, an incoming frame is a chance to send the heartbeat.
    onPulse()
    if (!current) return
    if (frame.type === 'drain') tryLater(frame.reconnect_after_ms)
    else if (frame.type !== 'ok' || frame.ref !== PROBE_REF) onFrame(frame)
  }

  function lose(why: CloseReason): void {
    if (!current) return
    if (runtime.now() - current.welcomedAt > STEADY_MS) failures = refusals = 0
    dropCurrent()
    if (isGone(why)) {
      leave(why)
      return
    }
    parts.onDown()
    // After `drain` an attempt may be under way already.
    if (!opening && isWanted) tryAgain(why)
  }

  function dropCurrent(): void {
    beats?.stop()
    stopProbe()
    current?.transport.close()
    current = null
  }

  function leave(how: Gone): void {
    stop()
    parts.onGone(how)
  }

  function stop(): void {
    isWanted = false
    retry?.stop()
    retry = null
    dropAttempt()
    dropCurrent()
  }

  function stopProbe(): void {
    probe?.stop()
    probe = null
  }

  /**
   * A pulled cable closes no socket. If the server has been silent for the heartbeat TTL, the heartbeat asks for
   * an answer; without one the connection is dead.
   */
  function beat(mustAnswer: boolean): void {
    if (!current) return
    beatAt = runtime.now()
    // With this key order it is one of the two texts that servers recognise without parsing.
    const frame: ClientFrame = { type: 'heartbeat', activity: parts.activity() }
    if (mustAnswer) {
      frame.ref = PROBE_REF
      probe ??= runtime.after(PROBE_MS_MAX, () => lose('lost'))
    }
    current.transport.send(frame)
  }

  function onPulse(): void {
    if (!current) return
    const now = runtime.now()
    // The machine has slept past the TTL: the server has closed, and its close frame may never arrive.
    if (now - beatAt > ttlMs) lose('lost')
    // Slightly less than the interval: timers are inexact and must not skip every other heartbeat.
    else if (now - beatAt >= intervalMs * 0.9) beat(now - receivedAt >= ttlMs)
  }

  return {
    start() {
      if (isWanted) return
      isWanted = true
      failures = refusals = 0
      void attempt()
    },
    stop,
    isLive: () => current !== null,
    send: (frame) => current?.transport.send(frame),
    beat() {
      onPulse()
      beat(false)
    },
    poke() {
      onPulse()
      if (current) beat(true)
      else if (retry) void attempt()
    },
  }
}
