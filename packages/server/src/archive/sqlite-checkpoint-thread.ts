// A thread that checkpoints one SQLite database through its own connection. It does not keep the process
// alive while it is idle.
import { Worker } from 'node:worker_threads'

/** PASSIVE copies what no reader still needs. TRUNCATE also shortens the log file, if there is no reader. */
export type CheckpointMode = 'PASSIVE' | 'TRUNCATE'

export interface CheckpointThread {
  /** One at a time. Rejects when the checkpoint failed or the thread has ended. */
  run(mode?: CheckpointMode): Promise<void>
  stop(): Promise<void>
}

// As text, so that a single-file executable carries it. A missing file is not created again: the log
// does not belong to a new file.
const PROGRAM = `
  const { parentPort } = require('node:worker_threads')
  const { Database } = require('bun:sqlite')
  parentPort.on('message', ({ path, mode }) => {
    let failure = null
    try {
      const database = new Database(path, { readwrite: true, create: false })
      try {
        database.run(\`PRAGMA wal_checkpoint(\${mode})\`)
      } finally {
        database.close()
      }
    } catch (error) {
      failure = String(error)
    }
    parentPort.postMessage(failure)
  })`

export function startCheckpointThread(path: string): CheckpointThread {
  const worker = new Worker(PROGRAM, { eval: true })
  let waiting: PromiseWithResolvers<void> | null = null
  let ended: string | null = null

  function finish(failure: string | null): void {
    worker.unref()
    if (failure === null) waiting?.resolve()
    else waiting?.reject(new Error(`The SQLite database "${path}" could not be checkpointed: ${failure}`))
    waiting = null
  }

  function end(reason: string): void {
    ended ??= reason
    finish(ended)
  }

  worker.unref()
  worker.on('message', finish)
  worker.on('error', (error: Error) => end(error.message))
  worker.on('exit', () => end('its thread has ended'))

  return {
    run(mode = 'PASSIVE') {
      waiting = Promise.withResolvers<void>()
      const { promise } = waiting
      if (ended === null) {
        worker.ref()
        worker.postMessage({ path, mode })
      } else finish(ended)
      return promise
    },
    async stop() {
      await worker.terminate()
    },
  }
}
