// The SharedWorker that holds the connection for all tabs: one hub for each user and server. It is never
// hidden, so its timers keep their pace, and it ends with the last tab. Worker and tabs detect by locks when
// the other is gone.
import { dialsOf } from './connection/dial.ts'
import { createHub, type Hub, type HubTab } from './connection/hub.ts'
import { ambientRuntime } from './platform.ts'
import { holdLock } from './tabs/tab-lock.ts'
import { hubWithTabTokens } from './tabs/tab-tokens.ts'
import type { FromWorker, ToWorker } from './tabs/worker-uplink.ts'

const runtime = ambientRuntime()
const locks = runtime.locks!
const hubs = new Map<string, { hub: Hub; tabs: Set<HubTab> }>()
const lockOfWorker = `greendot worker ${runtime.newName()}`
const isHeld = new Promise<void>((resolve) => void holdLock(locks, lockOfWorker, resolve))

function serve(port: MessagePort): void {
  const send = (message: FromWorker) => port.postMessage(message)
  let receive: (message: ToWorker) => void = join
  let leave = () => {}

  function join(message: ToWorker): void {
    if (message.type !== 'hello') return
    const { hub: name, address, transport, lock } = message
    const entry = hubs.get(name) ?? {
      hub: hubWithTabTokens(runtime, (token) =>
        createHub({ runtime, ...dialsOf(runtime, address, transport), pulse: runtime.every, token }),
      ),
      tabs: new Set(),
    }
    hubs.set(name, entry)
    const tab = entry.hub.addTab(send)
    entry.tabs.add(tab)
    receive = (next) => {
      if (next.type === 'up') tab.receive(next.message)
      else leave()
    }
    leave = () => {
      if (!entry.tabs.delete(tab)) return
      tab.leave()
      if (entry.tabs.size > 0) return
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
