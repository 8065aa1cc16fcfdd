// Free ports of the loopback. They are below the range of outgoing connections (32768 and up on Linux): many processes
// start one after the other, and those that run have connections already, which would take the ports of the others.
// They are also below those of the tests (`testing/services/ports.ts`), which run beside tests of the benchmark.
import { BenchProblem } from './problem.ts'

const HOST = '127.0.0.1'
const LOWEST = 5_000
const HIGHEST = 10_999

/** The next port to try; processes that measure at the same time begin at different ones. */
let next = LOWEST + ((process.pid * 101) % (HIGHEST - LOWEST))

/** Not the same port again, until all others were tried. */
export function freePort(): number {
  for (let tried = LOWEST; tried <= HIGHEST; tried++) {
    const port = next
    next = port === HIGHEST ? LOWEST : port + 1
    if (isFree(port)) return port
  }
  throw new BenchProblem(`no port between ${LOWEST} and ${HIGHEST} is free`)
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: HOST, port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}
