// A load-generator process: holds many raw clients and does what the benchmark tells it over IPC.
import { HEARTBEAT_ACTIVE, HEARTBEAT_IDLE } from '@greendot/protocol'
import { openRaw, type RawClient, textFrame } from './raw-client.ts'

export type Order =
  /** Opens clients; `watch[i]` are the ids the i-th of them watches after its welcome. */
  | { do: 'open'; port: number; paths: string[]; watch: string[][]; parallel: number }
  /** Every client beats once per interval, spread evenly. */
  | { do: 'beat'; everyMs: number }
  /** The first `clients` clients flip between active and idle, `perSecond` flips in all. */
  | { do: 'flip'; clients: number; perSecond: number }
  /** All but the first client stop reading, so that the load costs less than what it measures. */
  | { do: 'deafen' }
  | { do: 'rest' }
  | { do: 'report' }

export interface Report {
  open: number
  closed: number
  bytes: number
}

const ACTIVE = textFrame(HEARTBEAT_ACTIVE)
const IDLE = textFrame(HEARTBEAT_IDLE)
const TICK_MS = 5

const clients: RawClient[] = []
const report: Report = { open: 0, closed: 0, bytes: 0 }
let timer: Timer | undefined

async function open({ port, paths, watch, parallel }: Extract<Order, { do: 'open' }>): Promise<void> {
  let next = 0
  async function worker(): Promise<void> {
    while (next < paths.length) {
      const position = next++
      await new Promise<void>((resolve) => {
        void openRaw(port, paths[position]!, {
          onOpen() {
            report.open++
            resolve()
          },
          onClose: () => void report.closed++,
          onBytes(bytes) {
            report.bytes += bytes
          },
        }).then((client) => {
          clients[position] = client
        })
      })
      const userIds = watch[position] ?? []
      if (userIds.length > 0)
        clients[position]!.send(textFrame(JSON.stringify({ type: 'watch', user_ids: userIds })))
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}

/** Runs `act` for numbers counting up at a steady rate. */
function steadily(perSecond: number, act: (count: number) => void): void {
  clearInterval(timer)
  const startedAt = performance.now()
  let done = 0
  timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond)
    while (done < due) act(done++)
  }, TICK_MS)
}

process.on('message', (order: Order) => {
  switch (order.do) {
    case 'open':
      void open(order).then(() => process.send?.({ ...report }))
      return
    case 'beat':
      steadily((clients.length / order.everyMs) * 1000, (count) =>
        clients[count % clients.length]!.send(ACTIVE),
      )
      break
    case 'flip':
      steadily(order.perSecond, (count) => {
        const isIdle = Math.floor(count / order.clients) % 2 === 0
        clients[count % order.clients]!.send(isIdle ? IDLE : ACTIVE)
      })
      break
    case 'deafen':
      for (const client of clients.slice(1)) client.stopReading()
      break
    case 'rest':
      clearInterval(timer)
      break
    case 'report':
      break
  }
  process.send?.({ ...report })
})
