// The health service of gRPC: whether this process can take calls, by the same checks as /readyz.
import type { ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import type { Readiness } from '../ops/readiness.ts'
import type { Clock } from '../platform/clock.ts'
import type { Message } from './call.ts'

const CHECK_EVERY_MS = 1_000
/** Streams of this service that may be open: it needs no token. */
const WATCHERS_MAX = 100

export interface HealthParts {
  readiness: () => Promise<Readiness>
  /** The services of this server; the empty name stands for all of them. */
  services: readonly string[]
  clock: Clock
}

type Watcher = ServerWritableStream<Message, Message>

export function createHealth({ readiness, services, clock }: HealthParts) {
  const known = new Set(['', ...services])
  /** With what each was told last. */
  const watchers = new Map<Watcher, string>()

  const isKnown = (request: Message) => known.has(String(request.service ?? ''))

  async function serving(): Promise<string> {
    return (await readiness()).status === 'not_ready' ? 'NOT_SERVING' : 'SERVING'
  }

  function tell(watcher: Watcher, now: string): void {
    const said = isKnown(watcher.request) ? now : 'SERVICE_UNKNOWN'
    if (watchers.get(watcher) === said || watcher.writableNeedDrain) return
    watchers.set(watcher, said)
    watcher.write({ status: said })
  }

  async function tellAll(): Promise<void> {
    if (watchers.size === 0) return
    const now = await serving()
    for (const watcher of [...watchers.keys()]) tell(watcher, now)
  }

  const timer = clock.every(CHECK_EVERY_MS, () => void tellAll())

  const handlers: UntypedServiceImplementation = {
    Check(call: { request: Message }, answer: (error: object | null, message?: Message) => void) {
      if (!isKnown(call.request)) {
        answer({ code: status.NOT_FOUND, details: 'no such service' })
        return
      }
      void serving().then((now) => answer(null, { status: now }))
    },
    async Watch(call: Watcher) {
      call.on('error', () => {})
      if (watchers.size >= WATCHERS_MAX) {
        call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'too many watch the health' })
        return
      }
      watchers.set(call, '')
      for (const event of ['cancelled', 'close', 'finish']) call.once(event, () => watchers.delete(call))
      const now = await serving()
      // It may be over by now, and must not be kept again.
      if (watchers.has(call)) tell(call, now)
    },
  }

  return {
    handlers,
    /** The last word of the streams that are open. */
    stop(): void {
      timer.stop()
      for (const watcher of watchers.keys()) {
        tell(watcher, 'NOT_SERVING')
        watcher.end()
      }
    },
  }
}
