// Moves what the write-ahead log holds into the database file, in a thread of its own: it waits
// for the disk, and the event loop must not. Writers stand in line meanwhile, so that every
// checkpoint reaches the end of the log and the log starts again from its beginning.
import { Worker } from 'node:worker_threads'

/** Rows between two checkpoints; each may have put a page of the table and of an index in the log. */
export const ROWS_PER_CHECKPOINT = 2000

export interface Checkpointer {
  /** One at a time. Rejects when the thread cannot do it, now or ever. */
  run(): Promise<void>
  stop(): void
}

// A text, not a file: a single-file executable has no other files to start a thread from. The
// connection lives only as long as one checkpoint, so the thread may be stopped between two.
const THREAD_SOURCE = `
const { Database } = require('bun:sqlite')
const { parentPort, workerData } = require('node:worker_threads')
parentPort.on('message', () => {
  try {
    const database = new Database(workerData.path, { readwrite: true })
    try {
      database.run('PRAGMA synchronous = NORMAL')
      database.query('PRAGMA wal_checkpoint(PASSIVE)').all()
    } finally {
      database.close()
    }
    parentPort.postMessage({ failure: null })
  } catch (error) {
    parentPort.postMessage({ failure: String(error) })
  }
})
`

export function createCheckpointer(path: string): Checkpointer {
  let thread: Worker | null = null
  let underWay: PromiseWithResolvers<void> | null = null

  function start(): Worker {
    const started = new Worker(THREAD_SOURCE, { eval: true, workerData: { path } })
    const fail = (reason: string) => underWay?.reject(new Error(`No checkpoint: ${reason}`))
    started.on('message', ({ failure }: { failure: string | null }) =>
      failure === null ? underWay?.resolve() : fail(failure),
    )
    started.on('error', (error) => fail(String(error)))
    started.on('exit', () => fail('the thread has ended'))
    return started
  }

  return {
    async run() {
      // Started late: a database that is hardly written needs no thread.
      thread ??= start()
      underWay = Promise.withResolvers()
      // A checkpoint keeps the process from ending; a thread that waits for one does not.
      thread.ref()
      thread.postMessage('checkpoint')
      await underWay.promise.finally(() => thread?.unref())
    },
    stop() {
      void thread?.terminate()
      thread = null
    },
  }
}
