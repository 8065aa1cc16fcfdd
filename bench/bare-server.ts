// The yardstick: the same runtime, the same sockets and a frame of the same bytes, with nothing but a
// loop of `send`. Prints its port, then on every `go` message sends for a while and reports.
import type { ServerWebSocket } from 'bun'

const sockets: ServerWebSocket<undefined>[] = []
const SENDS_PER_TURN = 500

const server = Bun.serve<undefined>({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, server) => (server.upgrade(request, { data: undefined }) ? undefined : new Response('hi')),
  websocket: {
    perMessageDeflate: false,
    idleTimeout: 0,
    sendPings: false,
    open: (socket) => void sockets.push(socket),
    message: () => {},
  },
})

process.on('message', ({ frame, ms }: { frame: string; ms: number }) => {
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  let sent = 0
  let refused = 0
  function turn(): void {
    for (let count = 0; count < SENDS_PER_TURN; count++) {
      if (sockets[sent++ % sockets.length]!.send(frame) <= 0) refused++
    }
    if (performance.now() - startedAt < ms) setImmediate(turn)
    else {
      const { user, system } = process.cpuUsage(cpu)
      process.send?.({ sent, refused, wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 })
    }
  }
  turn()
})
process.send?.({ port: server.port })
