// The yardstick: the same runtime, the same sockets, frames of the same sizes, and nothing but a loop of
// `send`. `blast` sends as fast as it can, `pace` at a given rate; both return the CPU time.
import type { ServerWebSocket } from 'bun'
import type { Handle } from '../load/worker.ts'
import { now } from '../platform/clock.ts'

export type BareOrder =
  | { do: 'listen' }
  /** Sizes of frames, sent in turns to all sockets. */
  | { do: 'blast'; sizes: readonly number[]; ms: number }
  | { do: 'pace'; sizes: readonly number[]; perSecond: number; ms: number }

export interface BareReport {
  sent: number
  refused: number
  wallMs: number
  cpuMs: number
}

const SENDS_PER_TURN = 500
const TICK_MS = 1

export function createBareServer(): Handle {
  const sockets: ServerWebSocket<undefined>[] = []

  function listen(): number {
    const server = Bun.serve<undefined>({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request, bare) => (bare.upgrade(request, { data: undefined }) ? undefined : new Response('hi')),
      websocket: {
        perMessageDeflate: false,
        idleTimeout: 0,
        sendPings: false,
        open: (socket) => void sockets.push(socket),
        message: () => {},
      },
    })
    return server.port!
  }

  function measure(sizes: readonly number[], ms: number, perSecond: number | null): Promise<BareReport> {
    // One text per size: making texts is not what is measured.
    const texts = new Map(sizes.map((size) => [size, 'x'.repeat(size)]))
    const frames = sizes.map((size) => texts.get(size)!)
    const startedAt = now()
    const cpu = process.cpuUsage()
    let sent = 0
    let refused = 0
    return new Promise((resolve) => {
      function turn(): void {
        const elapsedMs = now() - startedAt
        const due = perSecond === null ? sent + SENDS_PER_TURN : Math.floor((elapsedMs / 1000) * perSecond)
        while (sent < due) {
          if (sockets[sent % sockets.length]!.send(frames[sent % frames.length]!) <= 0) refused++
          sent++
        }
        if (elapsedMs >= ms) {
          const { user, system } = process.cpuUsage(cpu)
          resolve({ sent, refused, wallMs: now() - startedAt, cpuMs: (user + system) / 1000 })
        } else if (perSecond === null) setImmediate(turn)
        else setTimeout(turn, TICK_MS)
      }
      turn()
    })
  }

  function handle(order: BareOrder): unknown {
    switch (order.do) {
      case 'listen':
        return listen()
      case 'blast':
        return measure(order.sizes, order.ms, null)
      case 'pace':
        return measure(order.sizes, order.ms, order.perSecond)
    }
  }
  return handle
}
