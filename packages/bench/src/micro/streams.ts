// What a gRPC stream costs a gateway beside a WebSocket that watches the same users: memory, CPU at rest, and
// deliveries. The changes come from a few users who switch between active and idle, each watched by hundreds.
import { HEARTBEAT_ACTIVE, HEARTBEAT_IDLE } from '@greendot/protocol'
import { now } from '../platform/clock.ts'
import { freePort } from '../platform/ports.ts'
import { createAddresses, firstAddress } from '../wires/addresses.ts'
import { textFrame } from '../wires/frames.ts'
import { greendotPath } from '../wires/greendot-wire.ts'
import type { Address } from '../wires/raw-socket.ts'
import { BenchSocket } from '../wires/web-socket.ts'
import { userName } from '../wires/wire.ts'
import type { Micro, Reading, Scale } from './measure.ts'
import { median } from './measure.ts'
import { type MeasuredServer, startMeasured } from './setup/servers.ts'
import { openGrpcWatchers, openSocketWatchers, type Watchers } from './setup/stream-watchers.ts'

const WATCHERS = 5_000
const CONTACTS = 18
const MOVERS = 200
/** Watchers are other users than those who move. */
const FIRST_WATCHER = 1_000
const CHANGES_PER_SECOND = 100
const REST_MS = 3_000

export const streams: Micro = {
  name: 'streams',
  about: `${WATCHERS} gRPC streams on one gateway, beside WebSockets`,
  missing: () => null,
  async run(scale) {
    const grpcPort = freePort()
    const grpc = await measure(scale, [`--grpc-port=${grpcPort}`], (server, lists) =>
      openGrpcWatchers(`127.0.0.1:${grpcPort}`, lists, (watcher) => server.tokenOf(FIRST_WATCHER + watcher)),
    )
    const sockets = await measure(scale, ['--grpc-port=off'], (server, lists) =>
      openSocketWatchers(addressOf(server), lists, (watcher) => {
        const user = FIRST_WATCHER + watcher
        return greendotPath(server.tokenOf(user), user)
      }),
    )
    const beside = (name: string, unit: string, of: (costs: Costs) => number): Reading => ({
      name,
      unit,
      ours: of(grpc),
      bare: of(sockets),
      ratio: of(grpc) / of(sockets),
    })
    return [
      beside('memory of a gRPC stream, beside a WebSocket', 'bytes', (costs) => costs.bytes),
      beside('1,000 gRPC streams at rest, beside WebSockets', 'ms of CPU a second', (costs) => costs.restMs),
      beside('deliveries over gRPC, beside WebSockets', 'a CPU-second', (costs) => costs.perCpuSecond),
      beside('deliveries over gRPC, beside WebSockets', 'a second', (costs) => costs.perSecond),
    ]
  },
}

interface Costs {
  bytes: number
  restMs: number
  perCpuSecond: number
  perSecond: number
}

type OpenWatchers = (server: MeasuredServer, lists: readonly string[][]) => Promise<Watchers>

async function measure({ rounds, roundMs }: Scale, settings: readonly string[], open: OpenWatchers) {
  const server = await startMeasured(settings)
  try {
    const movers = await connectMovers(server)
    const before = server.residentBytes()
    const watchers = await open(server, watchLists())
    await Bun.sleep(REST_MS)
    const bytes = (server.residentBytes() - before) / WATCHERS
    const atRest = server.cpuSeconds()
    await Bun.sleep(REST_MS)
    const restMs = ((server.cpuSeconds() - atRest) * 1e6) / REST_MS / (WATCHERS / 1_000)
    await movers.move(roundMs)
    const rates: { perCpuSecond: number; perSecond: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const [cpu, received, startedAt] = [server.cpuSeconds(), watchers.received(), performance.now()]
      await movers.move(roundMs)
      const delivered = watchers.received() - received
      rates.push({
        perCpuSecond: delivered / (server.cpuSeconds() - cpu),
        perSecond: (delivered * 1_000) / (performance.now() - startedAt),
      })
    }
    watchers.close()
    movers.close()
    return {
      bytes,
      restMs,
      perCpuSecond: median(rates.map((rate) => rate.perCpuSecond)),
      perSecond: median(rates.map((rate) => rate.perSecond)),
    }
  } finally {
    await server.stop()
  }
}

/** Every mover has equally many watchers. */
const watchLists = (): string[][] =>
  Array.from({ length: WATCHERS }, (_, watcher) =>
    Array.from({ length: CONTACTS }, (_, step) => userName((watcher * CONTACTS + step) % MOVERS)),
  )

const addressOf = ({ port }: MeasuredServer): Address => ({
  host: '127.0.0.1',
  port,
  nextAddress: createAddresses(firstAddress(now(), 0)),
})

async function connectMovers(server: MeasuredServer) {
  const address = addressOf(server)
  const sockets = await Promise.all(
    Array.from({ length: MOVERS }, (_, user) => {
      const { promise, resolve, reject } = Promise.withResolvers<BenchSocket>()
      const socket = new BenchSocket(address, greendotPath(server.tokenOf(user), user), {
        onOpen: () => {},
        onBytes: () => {},
        // The welcome.
        onMessage: () => resolve(socket),
        onEnd: (why) => reject(new Error(why)),
      })
      return promise
    }),
  )
  const [active, idle] = [textFrame(HEARTBEAT_ACTIVE), textFrame(HEARTBEAT_IDLE)]
  let moved = 0
  return {
    /** One after the other, evenly over so long. */
    async move(ms: number): Promise<void> {
      const startedAt = performance.now()
      for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - startedAt) {
        const isIdle = Math.floor(moved / MOVERS) % 2 === 0
        sockets[moved++ % MOVERS]!.send(isIdle ? idle : active)
        await Bun.sleep(1_000 / CHANGES_PER_SECOND)
      }
    },
    close() {
      for (const socket of sockets) socket.end()
    },
  }
}
