// One scrape tells of all workers: they share a port, so a scraper reaches only one of them. That one asks the
// supervisor, which asks every worker and puts the answers together, each with the label of its worker. A worker
// that does not answer in time is left out and counted as missing.
import { type Family, labelled, merged } from '../../ops/exposition.ts'
import type { Clock } from '../../platform/clock.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

/** Below the time that a worker waits for the whole answer. */
export const COLLECT_MS_MAX = 1_000

export interface WorkerScrapes {
  /** A message of this worker. `reply` sends to the process that it came from. */
  take(worker: number, message: FromWorker, reply: (message: ToWorker) => void): void
  /** The worker ended and is started again. */
  restarted(worker: number): void
}

export interface WorkerScrapesParts {
  /** By worker; null while it is not running. */
  senders: () => readonly (((message: ToWorker) => void) | null)[]
  clock: Clock
}

interface Collection {
  waiting: Set<number>
  answers: Family[][]
  finish(): void
}

export function createWorkerScrapes({ senders, clock }: WorkerScrapesParts): WorkerScrapes {
  const collections = new Map<number, Collection>()
  const restarts = new Map<number, number>()
  let lastId = 0

  function collect(answered: (families: Family[]) => void): void {
    const id = ++lastId
    const all = senders()
    const finish = () => {
      if (!collections.delete(id)) return
      deadline.stop()
      answered(merged([ownFamilies(all.length, collection.answers.length), ...collection.answers]))
    }
    const deadline = clock.after(COLLECT_MS_MAX, finish)
    const collection: Collection = { waiting: new Set(), answers: [], finish }
    collections.set(id, collection)
    for (const [worker, send] of all.entries()) {
      if (send === null) continue
      collection.waiting.add(worker)
      send({ kind: 'collect', id })
    }
  }

  function ownFamilies(workers: number, answered: number): Family[] {
    const plain = (name: string, help: string, value: number): Family => ({
      name,
      type: 'gauge',
      help,
      samples: [{ suffix: '', labels: {}, value }],
    })
    const counts = Array.from({ length: workers }, (_, worker) => ({
      suffix: '',
      labels: { worker: String(worker) },
      value: restarts.get(worker) ?? 0,
    }))
    return [
      plain('greendot_workers', 'Workers that this machine should have', workers),
      plain('greendot_workers_missing', 'Workers that did not answer this scrape', workers - answered),
      {
        name: 'greendot_worker_restarts_total',
        type: 'counter',
        help: 'Times that a worker ended by itself and was started again, by worker',
        samples: counts,
      },
    ]
  }

  return {
    take(worker, message, reply) {
      if (message.kind === 'scrape') {
        collect((families) => reply({ kind: 'scraped', id: message.id, families }))
        return
      }
      const collection = collections.get(message.id)
      if (!collection?.waiting.delete(worker)) return
      collection.answers.push(labelled(message.families, { worker: String(worker) }))
      if (collection.waiting.size === 0) collection.finish()
    },
    restarted: (worker) => void restarts.set(worker, (restarts.get(worker) ?? 0) + 1),
  }
}
