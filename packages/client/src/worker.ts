// The SharedWorker that has the connection for all tabs of a browser: their hubs, by user and server. It is
// never hidden, so its timers are honest. It ends with the last tab. Tabs that are gone without a word are
// noticed by their locks, and so is the worker by them.
import { dialsOf } from './connection/dial.ts'
import { createHub, type Hub, type Seat } from './connection/hub.ts'
import { ambientRuntime } from './platform.ts'
import { holdLock } from './tabs/tab-lock.ts'
import { askingTabs } from './tabs/tab-tokens.ts'
import type { FromWorker, ToWorker } from './tabs/worker-uplink.ts'

const runtime = ambientRuntime()
const locks = runtime.locks!
const hubs = new Map<string, { hub: Hub; seats: Set<Seat> }>()
const lockOfWorker = `greendot worker ${runtime.newName()}`
const isHeld = new Promise<void>((resolve) => void holdLock(locks, lockOfWorker, resolve))

function serve(port: MessagePort): void {
  const send = (message: FromWorker) => port.postMessage(message)
  let receive: (message: ToWorker) => void = sitDown
  let leave = () => {}

  function sitDown(message: ToWorker): void {
    if (message.type !== 'hello') return
    const { hub: name, address, transport, lock } = message
    const entry = hubs.get(name) ?? {
      hub: askingTabs(runtime, (token) =>
        createHub({ runtime, ...dialsOf(runtime, address, transport), pulse: runtime.every, token }),
      ),
      seats: new Set(),
    }
    hubs.set(name, entry)
    const seat = entry.hub.seat(send)
    entry.seats.add(seat)
    receive = (next) => {
      if (next.type === 'up') seat.receive(next.message)
      else leave()
    }
    leave = () => {
      if (!entry.seats.delete(seat)) return
      seat.leave()
      if (entry.seats.size > 0) return
      entry.hub.close()
      hubs.delete(name)
    }
    void locks.request(lock, leave)
    void isHeld.then(() => send({ type: 'here', lock: lockOfWorker }))
  }

  port.onmessage = ({ data }: MessageEvent<ToWorker>) => receive(data)
}

const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }
scope.onconnect = ({ ports: [port] }) => serve(port!)
