// The uplink to a hub in a SharedWorker. Each side detects by a lock when the other is gone, because browsers
// report neither the crash of a tab nor that of a worker. A worker that is gone is started again; if there is
// none, the tabs use the fallback.

import type { FromHub, OpenUplink, ToHub, Uplink } from '../connection/messages.ts'
import type { Address } from '../connection/transport.ts'
import type { Runtime, Timer } from '../platform.ts'
import { holdLock } from './tab-lock.ts'

/** After this the worker counts as missing: its script may not exist or be forbidden. */
const WORKER_MS_MAX = 10_000
/** After so many workers that ended, the fallback is used. */
const WORKERS_MAX = 3

/** From a tab to the worker. */
export type ToWorker =
  /** `hub` names the user and the server: one worker may serve several. */
  | { type: 'hello'; hub: string; lock: string; address: Address; transport: 'auto' | 'websocket' | 'http' }
  | { type: 'up'; message: ToHub }
  | { type: 'bye' }

/** First `here`, with the lock that the worker holds; everything after it is from the hub. */
export type FromWorker = { type: 'here'; lock: string } | FromHub

export interface WorkerUplinkParts {
  runtime: Runtime
  start(): SharedWorker
  hello: Omit<Extract<ToWorker, { type: 'hello' }>, 'type' | 'lock'>
  /** Used if there is no worker. */
  fallback: OpenUplink
}

export function workerUplink({ runtime, start, hello, fallback }: WorkerUplinkParts): OpenUplink {
  return (on) => {
    const locks = runtime.locks!
    const lock = `${hello.hub}:${runtime.newName()}`
    let isOpen = true
    let port: MessagePort | null = null
    let other: Uplink | null = null
    let limit: Timer | null = null
    let waiting = new AbortController()
    let workers = 0
    const send = (message: ToWorker) => port?.postMessage(message)
    const release = holdLock(locks, lock, startWorker)

    function startWorker(): void {
      if (!isOpen) return
      try {
        if (++workers > WORKERS_MAX) throw new Error('workers keep ending')
        const worker = start()
        port = worker.port
        worker.onerror = fallBack
      } catch {
        fallBack()
        return
      }
      limit = runtime.after(WORKER_MS_MAX, fallBack)
      port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        if (data.type === 'here') onWorkerReady(data.lock)
        else on.down(data)
      }
      send({ type: 'hello', lock, ...hello })
    }

    function onWorkerReady(lockOfWorker: string): void {
      limit?.stop()
      waiting = new AbortController()
      const died = () => {
        closePort()
        startWorker()
      }
      locks.request(lockOfWorker, { signal: waiting.signal }, died).catch(() => {})
      on.attached()
    }

    function closePort(): void {
      limit?.stop()
      waiting.abort()
      send({ type: 'bye' })
      port?.close()
      port = null
    }

    function fallBack(): void {
      if (!isOpen || other) return
      closePort()
      other = fallback(on)
    }

    return {
      send: (message) => (other ? other.send(message) : send({ type: 'up', message })),
      close() {
        isOpen = false
        closePort()
        other?.close()
        release()
      },
    }
  }
}
