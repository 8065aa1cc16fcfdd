// A program: a way to one port of the loopback that can be broken. Prints its own port, then obeys
// orders over IPC: `pass`, `blackhole` (connections stay, nothing comes through) and `cut` (they
// break, and new ones are refused). What a blackhole swallowed does not come through later.
import { createConnection, createServer, type Socket } from 'node:net'

export type WayOrder = 'pass' | 'blackhole' | 'cut'

const HOST = '127.0.0.1'
const [target] = process.argv.slice(2)
let order: WayOrder = 'pass'
const pairs = new Set<[Socket, Socket]>()

const server = createServer((near) => {
  if (order === 'cut') return void near.resetAndDestroy()
  const far = createConnection({ host: HOST, port: Number(target) })
  const pair: [Socket, Socket] = [near, far]
  pairs.add(pair)
  for (const [from, to] of [pair, [far, near]] as const) {
    from.setNoDelay(true)
    from.on('data', (bytes) => void (order === 'pass' && to.write(bytes)))
    from.on('error', () => {})
    from.on('close', () => {
      pairs.delete(pair)
      to.destroy()
    })
  }
})

process.on('message', (next: WayOrder) => {
  order = next
  // After a blackhole, streams have holes: nobody can go on reading them.
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
