// Keeps one connection to the server, whatever happens to it. There is the one that is in use, and there
// may be one on its way: after a loss, after a `drain`, or because WebSockets are worth another try. The
// new one takes over with its welcome and only then the old one is closed, so that a planned change of
// server shows nowhere. Pauses between attempts grow, with full jitter: a crowd does not come back at once.
import type { Activity, ClientFrame } from '@greendot/protocol'
import type { Runtime, Timer } from '../platform.ts'
import type { DotFailure } from '../types.ts'
import type { Dial, Ending, Incoming, Transport, Welcome } from './transport.ts'

const PAUSE_MS_FIRST = 500
const PAUSE_MS_MAX = 30_000
/** A connection that lived as long was a good one: the next pause is a short one again. */
const STEADY_MS = 10_000
/** From fetching the token to the welcome. */
const WELCOME_MS_MAX = 15_000
/** How long the answer to a question may take before the connection counts as dead. */
const PROBE_MS_MAX = 5_000
const PROBE_REF = 'alive'
/** Sockets in a row that said nothing at all before requests are tried instead. */
const MUTE_SOCKETS_MAX = 3
const SOCKET_AGAIN_MS = 120_000
/** A server that says "too often" gets at least the pauses of so many failures. */
const FAILURES_WHEN_TOO_OFTEN = 5

/** Full jitter: anything up to the pause, which doubles with every failure. */
export const pauseMs = (failures: number, random: number): number =>
  random * Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** failures)

export interface Link {
  start(): void
  /** Ends it without a goodbye. */
  stop(): void
  isLive(): boolean
  /** Lost while there is no connection. */
  send(frame: ClientFrame): void
  /** Says now what we do; the beat after it is as far away as ever. */
  beat(): void
  /** The network may have changed, or we have slept: look now instead of later. */
  poke(): void
}

export interface LinkParts {
  runtime: Runtime
  /** Undefined where there are no WebSockets, or none are wanted. */
  dialSocket: Dial | undefined
  /** Undefined where requests are not wanted. */
  dialHttp: Dial | undefined
  token(): Promise<string>
  activity(): Activity
  /** Runs at this pace even where timers are slowed down. */
  pulse(intervalMs: number, run: () => void): Timer
  onWelcome(welcome: Welcome): void
  onFrame(frame: Incoming): void
  /** There is no connection now. */
  onDown(): void
  /** Somebody said goodbye for this device. */
  onLeft(): void
  onTrouble(failure: DotFailure): void
}

interface Connection {
  transport: Transport
  isSocket: boolean
  welcomedAt: number
}

export function createLink(parts: LinkParts): Link {
  const { runtime, dialSocket, dialHttp, pulse, onFrame, onTrouble } = parts
  let isWanted = false
  let current: Connection | null = null
  /** The attempt under way; its identity tells whether what comes late still counts. */
  let opening: { transport: Transport | null; limit: Timer } | null = null
  let retry: Timer | null = null
  let beats: Timer | null = null
  let probe: Timer | null = null
  let intervalMs = 0
  let ttlMs = 0
  let beatAt = 0
  let heardAt = 0
  let failures = 0
  let refusals = 0
  let muteSockets = 0
  let wasSocket = false

  function tryLater(delayMs: number): void {
    retry?.stop()
    retry = runtime.after(delayMs, attempt)
  }

  /** After a failure or a loss: at once where that may help, and otherwise after a growing pause. */
  function tryAgain(why: Ending): void {
    // The first needs a new token, the second a timer that is not asleep; neither is helped by waiting.
    if ((why === 'refused' && ++refusals === 1) || why === 'silent') return void attempt()
    if (why === 'too_often') failures = Math.max(failures, FAILURES_WHEN_TOO_OFTEN)
    tryLater(pauseMs(failures++, runtime.random()))
  }

  /** Sockets first. Where several were not even answered, every other attempt is by requests. */
  function chooseSocket(): boolean {
    return !dialHttp || muteSockets < MUTE_SOCKETS_MAX || !wasSocket
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
    // Whatever there is now, what comes after it is a socket if it can be.
    const isSocket = dialSocket !== undefined && (current !== null || chooseSocket())
    wasSocket = isSocket
    let hasHeard = false

    function fail(why: Ending): void {
      if (opening !== mine) return
      dropAttempt()
      if (isSocket) muteSockets = hasHeard ? 0 : muteSockets + 1
      if (why === 'left') leave()
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
            hasHeard = true
            if (current?.transport === transport) hear(frame)
            else if (frame.type === 'welcome')
              welcome({ transport, isSocket, welcomedAt: runtime.now() }, frame)
            else if (frame.type === 'error') onTrouble(frame)
          },
          closed(why) {
            if (current?.transport === transport) lose(why)
            else fail(why)
          },
        },
      )
      mine.transport = transport
    } catch (error) {
      // There is no token, or nothing can be dialled like this.
      onTrouble({ code: 'unauthorized', message: String(error) })
      hasHeard = true
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
    beatAt = heardAt = connection.welcomedAt
    intervalMs = frame.heartbeat_interval_ms
    ttlMs = frame.heartbeat_ttl_ms
    if (connection.isSocket) muteSockets = 0
    else if (dialSocket) tryLater(SOCKET_AGAIN_MS)
    beats?.stop()
    stopProbe()
    beats = pulse(intervalMs, onPulse)
    parts.onWelcome(frame)
  }

  function hear(frame: Incoming): void {
    heardAt = runtime.now()
    stopProbe()
    // Whatever wakes us is a chance to beat, should the timer be late.
    onPulse()
    if (!current) return
    if (frame.type === 'drain') tryLater(frame.reconnect_after_ms)
    else if (frame.type !== 'ok' || frame.ref !== PROBE_REF) onFrame(frame)
  }

  function lose(why: Ending): void {
    if (!current) return
    if (runtime.now() - current.welcomedAt > STEADY_MS) failures = refusals = 0
    dropCurrent()
    if (why === 'left') {
      leave()
      return
    }
    parts.onDown()
    // One may be on its way already, because the server said that it would go.
    if (!opening && isWanted) tryAgain(why)
  }

  function dropCurrent(): void {
    beats?.stop()
    stopProbe()
    current?.transport.close()
    current = null
  }

  function leave(): void {
    stop()
    parts.onLeft()
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
   * A cable that was pulled closes nothing. When the server has been silent for as long as it would bear
   * our silence, the beat asks for an answer, and without one the connection is dead.
   */
  function beat(mustAnswer: boolean): void {
    if (!current) return
    beatAt = runtime.now()
    // In this order, written out, it is one of the two texts that servers recognise without parsing.
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
    // We have slept, and the server has given us up: its goodbye may never come.
    if (now - beatAt > ttlMs) lose('lost')
    // Not quite the interval, because timers are not exact and must not skip every other beat.
    else if (now - beatAt >= intervalMs * 0.9) beat(now - heardAt >= ttlMs)
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
