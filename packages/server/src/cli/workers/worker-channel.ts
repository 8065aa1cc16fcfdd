// The worker's end of the channel to its supervisor: it answers with its own figures, and asks for those of all
// workers. Without a supervisor, or when that does not answer, a scrape has the figures of this process.
import type { Siblings } from '../../http/http-app.ts'
import { type Family, labelled } from '../../ops/exposition.ts'
import type { CollectMetrics } from '../../ops/metrics.ts'
import type { World } from '../command.ts'
import { type FromWorker, SUPERVISED, type ToWorker } from './worker-messages.ts'

const ANSWER_MS_MAX = 2_000

/** Null in a process that was started without a supervisor. */
export function openWorkerChannel({ clock, env }: Pick<World, 'clock' | 'env'>): Siblings | null {
  const worker = env[SUPERVISED]
  if (process.send === undefined || worker === undefined) return null
  const pending = new Map<number, (families: Family[]) => void>()
  let collectOwn: CollectMetrics = async () => []
  let lastId = 0

  const tell = (message: FromWorker) => {
    if (process.connected) process.send?.(message)
  }

  async function receive(message: ToWorker): Promise<void> {
    if (message.kind === 'collect') {
      tell({ kind: 'collected', id: message.id, families: await collectOwn() })
      return
    }
    pending.get(message.id)?.(message.families)
  }
  process.on('message', (message) => void receive(message as ToWorker))

  return {
    answerWith(collect) {
      collectOwn = collect
    },
    async collectAll() {
      const id = ++lastId
      const asked = new Promise<Family[] | null>((resolve) => {
        const deadline = clock.after(ANSWER_MS_MAX, () => resolve(null))
        pending.set(id, (families) => {
          deadline.stop()
          resolve(families)
        })
      })
      tell({ kind: 'scrape', id })
      const families = await asked
      pending.delete(id)
      // With the same labels as always, so that no series begins and ends with this scrape.
      return families ?? labelled(await collectOwn(), { worker })
    },
    close: () => process.disconnect?.(),
  }
}
