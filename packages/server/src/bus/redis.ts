// Bus over Redis: one sharded channel for each gateway. Publishing never waits and never fails. A message
// that cannot be sent is dropped, and its gateway is told of the gap as soon as it can be reached, so that
// it reads again what it missed.
import { chunksOf } from '../platform/chunks.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { RedisConnection } from '../redis/client.ts'
import type { Bus, BusMessage } from './port.ts'
import { decodePayload, encodeMessages, GAP_PAYLOAD } from './redis-frames.ts'

const MESSAGES_PER_PAYLOAD = 1_000
/** Characters sent and not yet acknowledged. Over the limit, messages are dropped. */
const PENDING_CHARS_MAX = 16 * 1024 * 1024
/** Gateways with a gap to be told. A deployment never has that many. */
const GAPS_MAX = 10_000
const TELL_GAPS_EVERY_MS = 500

export interface RedisBusOptions {
  connection: Pick<RedisConnection, 'send' | 'follow'>
  clock: Clock
  /** The prefix of all channels. */
  prefix?: string
  /** Gets what a subscriber threw. Without it the error is uncaught. */
  onError?: (error: unknown) => void
}

export function createRedisBus(options: RedisBusOptions): Bus {
  const { connection, clock, prefix = '', onError = rethrow } = options
  const channelOf = (gatewayId: string): string => `${prefix}gw:${gatewayId}`
  const following = new Set<() => void>()
  const gaps = new Set<string>()
  let telling: Timer | null = null
  let pendingChars = 0
  let isClosed = false

  async function send(gatewayId: string, payload: string): Promise<boolean> {
    if (pendingChars + payload.length > PENDING_CHARS_MAX) {
      missed(gatewayId)
      return false
    }
    pendingChars += payload.length
    try {
      await connection.send('spublish', [channelOf(gatewayId), payload])
      return true
    } catch {
      missed(gatewayId)
      return false
    } finally {
      pendingChars -= payload.length
    }
  }

  function missed(gatewayId: string): void {
    if (isClosed || gaps.size >= GAPS_MAX) return
    gaps.add(gatewayId)
    telling ??= clock.after(TELL_GAPS_EVERY_MS, tellGaps)
  }

  // A gateway that cannot be reached resubscribes later, and then detects the gap itself.
  function tellGaps(): void {
    telling = null
    const gatewayIds = [...gaps]
    gaps.clear()
    for (const gatewayId of gatewayIds) void send(gatewayId, GAP_PAYLOAD)
  }

  function guarded(run: () => void): void {
    try {
      run()
    } catch (error) {
      onError(error)
    }
  }

  return {
    async publish(gatewayId, messages) {
      if (isClosed) return false
      const chunks = Array.from(chunksOf(messages, MESSAGES_PER_PAYLOAD))
      const sent = await Promise.all(chunks.map((chunk) => send(gatewayId, encodeMessages(chunk))))
      return sent.every(Boolean)
    },

    async subscribe(
      gatewayId,
      receive: (messages: readonly BusMessage[]) => void,
      onGap = () => {},
      onBreak = () => {},
    ) {
      let isStopped = false
      const unfollow = await connection.follow(channelOf(gatewayId), {
        receive(payload) {
          if (isStopped) return
          const frame = decodePayload(payload)
          guarded(() => (frame.kind === 'gap' ? onGap() : receive(frame.messages)))
        },
        onBreak() {
          if (!isStopped) guarded(onBreak)
        },
        onGap() {
          if (!isStopped) guarded(onGap)
        },
      })
      const stop = (): void => {
        isStopped = true
        following.delete(stop)
        unfollow()
      }
      following.add(stop)
      return stop
    },

    async close() {
      isClosed = true
      telling?.stop()
      for (const stop of following) stop()
    },
  }
}

function rethrow(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
