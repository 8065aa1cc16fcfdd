// One connection from a process to a Redis node, as ioredis keeps it: commands are answered in order, or rejected after
// a time limit; a connection that is silent for longer is closed. A rejected command may still take effect, and late:
// what was sent into a cut or to a frozen node arrives when that is over. Commands of one instant travel together.
import type { Machine } from '../time/machine.ts'
import type { Network } from '../time/network.ts'
import type { Random } from '../time/random.ts'
import type { Timeline } from '../time/timeline.ts'
import type { Call, RedisNode } from './redis-node.ts'

const COMMAND_MS_MAX = 1_500
const SILENCE_MS_MAX = 2_000
const CONNECT_MS_MAX = 1_000
/** Of the packets of one instant that travel apart. */
const SPLIT_SHARE = 0.1
/** Of the packets of a closed connection that the other side still reads. */
const LATE_SHARE = 0.5

export interface WireParts {
  machine: Machine
  node: RedisNode
  network: Network
  timeline: Timeline
  random: Random
}

export interface WireOptions {
  /** The connection ended, and not by `close`. */
  onClose(): void
  onPush?(channel: string, message: string): void
}

interface Pending {
  call: Call
  sentAt: number
  isTimedOut: boolean
  resolve(reply: unknown): void
  reject(error: Error): void
}

export interface Wire {
  isReady(): boolean
  /** Resolves when it is ready; rejects when it cannot be. */
  connect(): Promise<void>
  send(command: string, args: readonly (string | number)[]): Promise<unknown>
  close(): void
}

const BROKEN = "Stream isn't writeable and enableOfflineQueue options is false"

export function openWire(parts: WireParts, options: WireOptions): Wire {
  const { machine, node, network, timeline, random } = parts
  let state: 'idle' | 'connecting' | 'ready' | 'closed' = 'idle'
  /** Sent and not answered, oldest first. */
  let pending: Pending[] = []
  let packet: Pending[] | null = null
  let packetAt = 0
  let arrivesAt = 0
  let answersAt = 0
  let heardAt = 0
  let isWatched = false
  let incarnation = -1
  let refused: (error: Error) => void = () => {}
  let watch: { stop(): void } | null = null
  const subscriber = { push: receivePush, drop: resetSoon }

  function end(error: Error): void {
    if (state === 'closed') return
    state = 'closed'
    watch?.stop()
    downListener.stop()
    node.unsubscribe(subscriber)
    const all = pending
    pending = []
    for (const { isTimedOut, reject } of all) if (!isTimedOut) reject(error)
  }

  /** In the process: it notices that the connection is over. */
  function breakOff(): void {
    if (state === 'closed') return
    const wasReady = state === 'ready'
    end(new Error('Connection is closed.'))
    if (wasReady) options.onClose()
    else refused(new Error('Connection is closed.'))
  }

  function departs(one: Pending): void {
    pending.push(one)
    watchOver()
    if (packet !== null && packetAt === timeline.now() && !random.isTrue(SPLIT_SHARE)) {
      packet.push(one)
      return
    }
    const sent = [one]
    packet = sent
    packetAt = timeline.now()
    arrivesAt = Math.max(arrivesAt, timeline.now() + network.latencyMs())
    timeline.at(arrivesAt, () => arrive(sent))
  }

  function arrive(sent: readonly Pending[]): void {
    if (sent === packet) packet = null
    network.whenOpen(machine.name, node.name, () =>
      node.whenRunning(() => {
        if (!node.isUp() || node.incarnation() !== incarnation) return
        if (state === 'closed' && !random.isTrue(LATE_SHARE)) return
        // Of the last packet of a process that crashed, any first part was sent.
        const read = machine.isAlive() ? sent : sent.slice(0, random.below(sent.length + 1))
        const replies = read.map((one) => ({ one, reply: executed(one.call) }))
        answersAt = Math.max(answersAt, timeline.now() + network.latencyMs())
        timeline.at(answersAt, () => answer(replies))
      }),
    )
  }

  function executed(call: Call): { value: unknown } | { error: Error } {
    if (call.command === 'ssubscribe') {
      node.subscribe(call.args[0]!, subscriber)
      return { value: 1 }
    }
    try {
      return { value: node.execute(call) }
    } catch (error) {
      return { error: error as Error }
    }
  }

  function answer(replies: readonly { one: Pending; reply: { value: unknown } | { error: Error } }[]): void {
    network.whenOpen(machine.name, node.name, () =>
      machine.deliver(() => {
        if (state === 'closed') return
        heardAt = timeline.now()
        for (const { one, reply } of replies) {
          pending.splice(pending.indexOf(one), 1)
          if (one.isTimedOut) continue
          if ('error' in reply) one.reject(reply.error)
          else one.resolve(reply.value)
        }
      }),
    )
  }

  /** One timer for all commands: the oldest is the first to be late. */
  function watchOver(): void {
    if (isWatched) return
    isWatched = true
    const oldest = pending.find(({ isTimedOut }) => !isTimedOut) ?? pending[0]!
    const silentAt = Math.max(heardAt, pending[0]!.sentAt) + SILENCE_MS_MAX
    const at = oldest.isTimedOut ? silentAt : Math.min(oldest.sentAt + COMMAND_MS_MAX, silentAt)
    watch = timeline.at(Math.max(at, timeline.now()), () =>
      machine.deliver(() => {
        isWatched = false
        if (state === 'closed' || pending.length === 0) return
        const now = timeline.now()
        if (Math.max(heardAt, pending[0]!.sentAt) + SILENCE_MS_MAX <= now) return breakOff()
        for (const one of pending) {
          if (one.isTimedOut || one.sentAt + COMMAND_MS_MAX > now) continue
          one.isTimedOut = true
          one.reject(new Error('Command timed out'))
        }
        watchOver()
      }),
    )
  }

  function receivePush(channel: string, message: string): void {
    if (!machine.isAlive()) node.unsubscribe(subscriber)
    answersAt = Math.max(answersAt, timeline.now() + network.latencyMs())
    timeline.at(answersAt, () =>
      network.whenOpen(machine.name, node.name, () =>
        machine.deliver(() => {
          if (state === 'closed') return
          heardAt = timeline.now()
          options.onPush?.(channel, message)
        }),
      ),
    )
  }

  function send(command: string, args: readonly (string | number)[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (state !== 'ready') return reject(new Error(BROKEN))
      departs({
        call: { from: machine.name, command, args: args.map(String) },
        sentAt: timeline.now(),
        isTimedOut: false,
        resolve,
        reject,
      })
    })
  }

  /** The process hears of the end of the connection. */
  function resetSoon(): void {
    timeline.at(timeline.now() + network.latencyMs(), () =>
      network.whenOpen(machine.name, node.name, () => machine.deliver(breakOff)),
    )
  }

  const downListener = node.onDown(resetSoon)

  return {
    isReady: () => state === 'ready',
    connect() {
      state = 'connecting'
      return new Promise((resolve, reject) => {
        refused = reject
        const fail = (why: string) =>
          machine.deliver(() => {
            if (state !== 'connecting') return
            end(new Error(why))
            reject(new Error(why))
          })
        timeline.at(timeline.now() + CONNECT_MS_MAX, () => fail('connect ETIMEDOUT'))
        timeline.at(timeline.now() + 2 * network.latencyMs(), () =>
          network.whenOpen(machine.name, node.name, () => {
            if (!node.isUp()) return fail('connect ECONNREFUSED')
            node.whenRunning(() =>
              machine.deliver(() => {
                if (state !== 'connecting') return
                state = 'ready'
                incarnation = node.incarnation()
                heardAt = timeline.now()
                resolve()
              }),
            )
          }),
        )
      })
    },
    send,
    close() {
      end(new Error('Connection is closed.'))
    },
  }
}
