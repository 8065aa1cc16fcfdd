// A simulated Redis node: it runs one command after the other, each as one step, and serves channels. It can be frozen,
// restarted with or without its data, emptied, and replaced by a replica that has not seen the last writes.
import type { Timeline } from '../time/timeline.ts'
import { LOG_SCRIPTS } from './log-scripts.ts'
import { COMMANDS } from './redis-commands.ts'
import { RedisData } from './redis-data.ts'
import { forEachShard, type Script, SHARD_SCRIPTS, STORE_SCRIPTS } from './store-scripts.ts'

const SCRIPTS = new Map<string, Script>([...STORE_SCRIPTS, ...SHARD_SCRIPTS, ...LOG_SCRIPTS])

export interface Call {
  /** The process that sent it. */
  from: string
  command: string
  args: readonly string[]
}

export interface Subscriber {
  push(channel: string, message: string): void
  drop(): void
}

export type NodeData = ReturnType<RedisData['copy']>

export interface RedisNode {
  readonly name: string
  readonly data: RedisData
  isUp(): boolean
  /** Runs calls when the node is not frozen. They are dropped if it goes down before. */
  whenRunning(run: () => void): void
  execute(call: Call): unknown
  subscribe(channel: string, subscriber: Subscriber): void
  unsubscribe(subscriber: Subscriber): void
  /** Ends the connections of all subscribers. */
  dropSubscribers(): void
  /** Called when it goes down; connections end. */
  onDown(listener: () => void): { stop(): void }
  freeze(): void
  thaw(): void
  goDown(): void
  comeUp(): void
  empty(): void
  /** Another server with this data is in its place. */
  become(data: NodeData): void
  /** Grows when another server takes its place: then it has another address. */
  generation(): number
  /** Grows when it goes down: connections from before are over. */
  incarnation(): number
  stepClock(byMs: number): void
}

export interface RedisNodeOptions {
  name: string
  timeline: Timeline
  /** Scripts that are replaced, by their hash: a bug that is planted. */
  replace?: ReadonlyMap<string, (script: Script) => Script>
  /** Told of every call that was executed. */
  onCall?: (call: Call, reply: unknown) => void
}

export function createRedisNode(options: RedisNodeOptions): RedisNode {
  const { name, timeline, replace, onCall } = options
  const data = new RedisData()
  const subscribers = new Map<string, Set<Subscriber>>()
  const listeners = new Set<() => void>()
  const scripts = new Map(SCRIPTS)
  for (const [sha, change] of replace ?? []) scripts.set(sha, change(scripts.get(sha)!))
  for (const [sha] of SHARD_SCRIPTS) scripts.set(sha, forEachShard(scripts.get(sha)!))
  let state: 'up' | 'frozen' | 'down' = 'up'
  let waiting: (() => void)[] = []
  let generation = 0
  let incarnation = 0
  let skewMs = 0

  function publish(channel: string, message: string): number {
    const listening = subscribers.get(channel)
    for (const subscriber of listening ?? []) subscriber.push(channel, message)
    return listening?.size ?? 0
  }

  function run({ command, args }: Call): unknown {
    if (command === 'evalsha' || command === 'eval') {
      const script = scripts.get(args[0]!)
      if (script === undefined) throw new Error(`the simulated redis has no script ${args[0]}`)
      return script({ data, now: timeline.now() + skewMs }, args[2]!, args.slice(3))
    }
    if (command === 'spublish') return publish(args[0]!, args[1]!)
    const known = COMMANDS[command]
    if (known === undefined) throw new Error(`the simulated redis has no command ${command}`)
    return known(data, args)
  }

  function goDown(): void {
    state = 'down'
    incarnation++
    waiting = []
    subscribers.clear()
    for (const listener of [...listeners]) listener()
  }

  return {
    name,
    data,
    isUp: () => state !== 'down',
    whenRunning(run) {
      if (state === 'up') run()
      else if (state === 'frozen') waiting.push(run)
    },
    execute(call) {
      const reply = run(call)
      onCall?.(call, reply)
      return reply
    },
    subscribe(channel, subscriber) {
      const listening = subscribers.get(channel) ?? new Set()
      subscribers.set(channel, listening.add(subscriber))
    },
    unsubscribe(subscriber) {
      for (const [channel, listening] of subscribers)
        if (listening.delete(subscriber) && listening.size === 0) subscribers.delete(channel)
    },
    dropSubscribers() {
      const all = new Set([...subscribers.values()].flatMap((listening) => [...listening]))
      subscribers.clear()
      for (const subscriber of all) subscriber.drop()
    },
    onDown(listener) {
      listeners.add(listener)
      return { stop: () => void listeners.delete(listener) }
    },
    freeze() {
      if (state === 'up') state = 'frozen'
    },
    thaw() {
      if (state !== 'frozen') return
      state = 'up'
      const all = waiting
      waiting = []
      for (const each of all) timeline.at(timeline.now(), each)
    },
    goDown,
    comeUp() {
      if (state === 'down') state = 'up'
    },
    empty: () => data.clear(),
    become(copied) {
      goDown()
      data.replace(copied)
      generation++
      state = 'up'
    },
    generation: () => generation,
    incarnation: () => incarnation,
    stepClock(byMs) {
      skewMs += byMs
    },
  }
}
