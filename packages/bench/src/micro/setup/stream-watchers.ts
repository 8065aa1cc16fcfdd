// Many watchers of one kind in this process, for the comparison of gRPC streams with WebSockets. They count the
// presence objects that they are sent after the snapshot.
import { credentials, Metadata, makeClientConstructor, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadProtoFiles } from '../../../../server/src/grpc/definitions.ts'
import { chunksOf } from '../../../../server/src/platform/chunks.ts'
import { textFrame } from '../../wires/frames.ts'
import { countUpdates } from '../../wires/greendot-wire.ts'
import type { Address } from '../../wires/raw-socket.ts'
import { BenchSocket } from '../../wires/web-socket.ts'

/** A server takes at most 1,000 streams on a connection. */
const STREAMS_PER_CONNECTION = 500
/** So many are opened at once; the others wait for them. */
const OPENED_TOGETHER = 100

export interface Watchers {
  received(): number
  close(): void
}

interface Push {
  snapshot?: object | null
  changes?: { changes: readonly unknown[] } | null
}

async function openAll(lists: readonly string[][], open: (watcher: number) => Promise<void>): Promise<void> {
  for (const together of chunksOf([...lists.keys()], OPENED_TOGETHER)) await Promise.all(together.map(open))
}

export async function openGrpcWatchers(
  address: string,
  lists: readonly string[][],
  tokenOf: (watcher: number) => string,
): Promise<Watchers> {
  const service = loadProtoFiles().presence.service('greendot.v1.PresenceService')
  const Client: ServiceClientConstructor = makeClientConstructor(service, 'PresenceService')
  const connect = () =>
    new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 })
  const clients = Array.from({ length: Math.ceil(lists.length / STREAMS_PER_CONNECTION) }, connect)
  let received = 0
  await openAll(lists, (watcher) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const metadata = new Metadata()
    metadata.set('authorization', `Bearer ${tokenOf(watcher)}`)
    const client = clients[Math.floor(watcher / STREAMS_PER_CONNECTION)]!
    const call = client.SubscribePresence!({ user_ids: lists[watcher] }, metadata)
    call.on('data', ({ snapshot, changes }: Push) => {
      if (changes) received += changes.changes.length
      else if (snapshot) resolve()
    })
    call.on('error', reject)
    return promise
  })
  return {
    received: () => received,
    close() {
      for (const client of clients) client.close()
    },
  }
}

export async function openSocketWatchers(
  address: Address,
  lists: readonly string[][],
  pathOf: (watcher: number) => string,
): Promise<Watchers> {
  const sockets: BenchSocket[] = []
  let received = 0
  await openAll(lists, (watcher) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const socket = new BenchSocket(address, pathOf(watcher), {
      onOpen: () => socket.send(textFrame(JSON.stringify({ type: 'watch', user_ids: lists[watcher] }))),
      onBytes: () => {},
      onMessage(bytes, from, to) {
        const type = bytes.toString('latin1', from + 9, from + 24)
        if (type === 'presence_change') received += countUpdates(bytes, from, to)
        else if (type.startsWith('presence_state')) resolve()
      },
      onEnd: (why) => reject(new Error(why)),
    })
    sockets.push(socket)
    return promise
  })
  return {
    received: () => received,
    close() {
      for (const socket of sockets) socket.end()
    },
  }
}
