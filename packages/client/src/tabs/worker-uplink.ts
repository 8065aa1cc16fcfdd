// The way to a hub that lives in a SharedWorker, for all tabs of a browser. Each side notices by a lock when
// the other is gone: browsers say nothing when a tab crashes, and nothing when it takes the worker with it.
// A worker that is gone is started again; where there is none to be had, the tabs go another way.

import type { Down, OpenUplink, Up, Uplink } from '../connection/messages.ts'
import type { Address } from '../connection/transport.ts'
import type { Runtime, Timer } from '../platform.ts'
import { holdLock } from './tab-lock.ts'

/** A worker that has not answered by then is not coming: its script may be missing, or forbidden. */
const WORKER_MS_MAX = 10_000
/** One that is gone again and again will not last. */
const WORKERS_MAX = 3

/** What a tab says to the worker. */
export type ToWorker =
  /** `hub` names the user and the server: one worker may serve several. */
  | { type: 'hello'; hub: string; lock: string; address: Address; transport: 'auto' | 'websocket' | 'http' }
  | { type: 'up'; message: Up }
  | { type: 'bye' }

/** What it says first, with the lock that it holds; everything after it is from the hub. */
export type FromWorker = { type: 'here'; lock: string } | Down

export interface WorkerUplinkParts {
  runtime: Runtime
  start(): SharedWorker
  hello: Omit<Extract<ToWorker, { type: 'hello' }>, 'type' | 'lock'>
  /** Where to turn when there is no worker after all. */
  otherwise: OpenUplink
}

export function workerUplink({ runtime, start, hello, otherwise }: WorkerUplinkParts): OpenUplink {
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
    const release = holdLock(locks, lock, employ)

    function employ(): void {
      if (!isOpen) return
      try {
        if (++workers > WORKERS_MAX) throw new Error('no worker lasts')
        const worker = start()
        port = worker.port
        worker.onerror = turn
      } catch {
        turn()
        return
      }
      limit = runtime.after(WORKER_MS_MAX, turn)
      port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        if (data.type === 'here') meet(data.lock)
        else on.down(data)
      }
      send({ type: 'hello', lock, ...hello })
    }

    function meet(lockOfWorker: string): void {
      limit?.stop()
      waiting = new AbortController()
      const died = () => {
        dismiss()
        employ()
      }
      locks.request(lockOfWorker, { signal: waiting.signal }, died).catch(() => {})
      on.attached()
    }

    function dismiss(): void {
      limit?.stop()
      waiting.abort()
      send({ type: 'bye' })
      port?.close()
      port = null
    }

    function turn(): void {
      if (!isOpen || other) return
      dismiss()
      other = otherwise(on)
    }

    return {
      send: (message) => (other ? other.send(message) : send({ type: 'up', message })),
      close() {
        isOpen = false
        dismiss()
        other?.close()
        release()
      },
    }
  }
}
