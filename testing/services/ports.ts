// Free ports of the loopback for services that need a fixed port, also after a restart. The ports are below the
// range of outgoing connections (32768 and up on Linux), and each concurrent test process has a range of its own,
// so nothing else takes one meanwhile.
import { createServer } from 'node:net'

export const LOOPBACK = '127.0.0.1'
/** Nodes of a Redis Cluster also listen this far above the port of their clients. */
export const REDIS_BUS_OFFSET = 10_000

const LOWEST = 11_000
const HIGHEST = 32_767 - REDIS_BUS_OFFSET
const ATTEMPTS_MAX = 200
/** Divides the offset of the bus, so that the ports of two processes never overlap. */
const PROCESSES_MAX = 80

const own = Number(process.env.BUN_TEST_WORKER_ID ?? process.pid) % PROCESSES_MAX
const places = Math.floor((HIGHEST - LOWEST) / PROCESSES_MAX)
/** A long run needs more ports than there are places, so the oldest are given out again. */
const TAKEN_MAX = places
const taken = new Set<number>()

/** Not the same port again soon. With `withBus`, the port of the bus is free as well. */
export async function freePort(options: { withBus?: boolean } = {}): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = LOWEST + own + PROCESSES_MAX * Math.floor(Math.random() * places)
    const needed = options.withBus ? [port, port + REDIS_BUS_OFFSET] : [port]
    if (needed.some((one) => taken.has(one))) continue
    for (const one of needed) taken.add(one)
    for (const oldest of taken) if (taken.size > TAKEN_MAX) taken.delete(oldest)
    const free = await Promise.all(needed.map(isFree))
    if (free.every(Boolean)) return port
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST} in ${ATTEMPTS_MAX} attempts`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
