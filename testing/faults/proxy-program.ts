// A program: a TCP proxy to one port of the loopback. It sends its own port over IPC, then takes its mode from
// there: `pass`, `blackhole` (connections stay open and their bytes are dropped) and `cut` (connections are
// reset and new ones refused).
import { createConnection, createServer, type Socket } from 'node:net'

export type ProxyMode = 'pass' | 'blackhole' | 'cut'

const HOST = '127.0.0.1'
const [target] = process.argv.slice(2)
let mode: ProxyMode = 'pass'
const pairs = new Set<[Socket, Socket]>()

const server = createServer((near) => {
  if (mode === 'cut') return void near.resetAndDestroy()
  const far = createConnection({ host: HOST, port: Number(target) })
  const pair: [Socket, Socket] = [near, far]
  pairs.add(pair)
  for (const [from, to] of [pair, [far, near]] as const) {
    from.setNoDelay(true)
    from.on('data', (bytes) => void (mode === 'pass' && to.write(bytes)))
    from.on('error', () => {})
    from.on('close', () => {
      pairs.delete(pair)
      to.destroy()
    })
  }
})

process.on('message', (next: ProxyMode) => {
  mode = next
  // A blackhole dropped bytes, so streams that went through it must not continue.
  for (const [near, far] of next === 'blackhole' ? [] : pairs) {
    near.resetAndDestroy()
    far.destroy()
  }
  process.send?.(next)
})
process.on('disconnect', () => process.exit(0))
server.listen(0, HOST, () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port })
})
