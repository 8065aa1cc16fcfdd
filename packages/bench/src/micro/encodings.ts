// What a delivery costs in the compact encoding beside JSON: the real delivery in this process, once to real sockets with
// readers in another process, and once to sinks that do nothing, which shows our own share of it. Each change has as many watchers as a user of the scenarios has, and is encoded once for them.
import { join } from 'node:path'
import type { Encoding, Presence } from '@greendot/protocol'
import type { ServerWebSocket } from 'bun'
import { createDelivery, type Sink } from '../../../server/src/gateway/delivery/delivery.ts'
import { ALL_AT_ONCE } from '../../../server/src/gateway/delivery/plans.ts'
import { systemClock } from '../../../server/src/platform/clock.ts'
import { createTally } from '../../../server/src/platform/measuring/tally.ts'
import { createEvaluator } from '../../../server/src/presence/privacy/evaluator.ts'
import { endProcess } from '../platform/child.ts'
import { type Micro, perCpuSecond, sideBySide } from './measure.ts'
import { userName } from './setup/users.ts'

const WATCHERS = 18
const TARGETS = 20
const FLUSH_MS = 5
const FIRST_VERSION = 1_750_000_000_000
const READERS = join(import.meta.dir, 'setup/readers.ts')

export const encodings: Micro = {
  name: 'encodings',
  about: 'deliveries in the compact encoding, beside JSON',
  missing: () => null,
  async run({ rounds, roundMs }) {
    const { sockets, stop } = await openSockets(2 * WATCHERS * TARGETS)
    const half = sockets.length / 2
    const compare = (name: string, compactSinks: readonly Sink[], jsonSinks: readonly Sink[]) =>
      sideBySide(
        { name, unit: 'deliveries per CPU-second', rounds },
        perCpuSecond(roundMs, deliverTo(compactSinks, 'compact')),
        perCpuSecond(roundMs, deliverTo(jsonSinks, 'json')),
      )
    const idle = new Array<Sink>(WATCHERS * TARGETS).fill({ send: () => 1 })
    try {
      return [
        await compare('delivery, compact beside JSON', sockets.slice(0, half), sockets.slice(half)),
        await compare('the same without sending', idle, idle),
      ]
    } finally {
      await stop()
    }
  },
}

/** Changes every target once, and says how many deliveries that made. */
function deliverTo(sinks: readonly Sink[], encoding: Encoding): () => Promise<number> {
  const evaluator = createEvaluator({ hiddenAs: 'offline', defaultVisibility: 'everyone' })
  const delivery = createDelivery({
    interner: { name: userName },
    evaluator,
    clock: systemClock,
    flushMs: FLUSH_MS,
    plans: ALL_AT_ONCE,
    tally: createTally(),
  })
  let missing = 0
  let onAll = () => {}
  let version = FIRST_VERSION
  const changeAll = (tell: typeof delivery.change) => {
    version++
    for (let target = 0; target < TARGETS; target++)
      tell(target, version, jsonOf(target, version), systemClock.now())
  }
  changeAll(delivery.learn)
  for (const [connection, sink] of sinks.entries()) {
    const send = (frame: string) => {
      if (--missing === 0) onAll()
      return sink.send(frame)
    }
    delivery.attach(connection, { send }, encoding)
    delivery.watch(connection, connection % TARGETS)
  }
  return async () => {
    missing = sinks.length
    const all = Promise.withResolvers<void>()
    onAll = all.resolve
    changeAll(delivery.change)
    await all.promise
    return sinks.length
  }
}

function jsonOf(target: number, version: number): string {
  const presence: Presence = {
    user_id: userName(target),
    status: version % 2 === 0 ? 'online' : 'away',
    last_seen: version,
    custom_status: null,
    devices: ['web'],
    version,
  }
  return JSON.stringify(presence)
}

async function openSockets(count: number) {
  const sockets: ServerWebSocket[] = []
  const opened = Promise.withResolvers<void>()
  const server = Bun.serve<undefined>({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, server) =>
      server.upgrade(request, { data: undefined }) ? undefined : new Response(null, { status: 400 }),
    websocket: {
      perMessageDeflate: false,
      idleTimeout: 0,
      open(socket) {
        sockets.push(socket as unknown as ServerWebSocket)
        if (sockets.length === count) opened.resolve()
      },
      message() {},
    },
  })
  const readers = Bun.spawn([process.execPath, READERS, `${server.port}`, `${count}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await Promise.race([
    opened.promise,
    readers.exited.then((code) => {
      throw new Error(`the readers ended with code ${code}`)
    }),
  ])
  return {
    sockets,
    async stop() {
      await endProcess(readers, 'SIGKILL')
      await server.stop(true)
    },
  }
}
