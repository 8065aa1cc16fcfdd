// The checkpoint thread: it empties the log, reports failures, and does not keep the process alive.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCheckpointThread } from './sqlite-checkpoint-thread.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'greendot-checkpoint-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('[C9] moves the log into the file, again and again', async () => {
  const path = join(folder, 'log.db')
  const database = new Database(path)
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE t (a TEXT)')
  const thread = startCheckpointThread(path)
  for (let round = 0; round < 3; round++) {
    database.run('INSERT INTO t VALUES (?)', ['x'.repeat(50_000)])
    await thread.run()
    const state = database.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(NOOP)')
    const { log, checkpointed } = state.get()!
    expect(log).toBeGreaterThan(0)
    expect(checkpointed).toBe(log)
  }
  await thread.stop()
  database.close()
})

test('[C7] a file that is gone is a failure, and is not made anew', async () => {
  const path = join(folder, 'gone.db')
  const thread = startCheckpointThread(path)
  await expect(thread.run()).rejects.toThrow(`"${path}" could not be checkpointed`)
  expect(existsSync(path)).toBe(false)
  // The thread itself is as good as before.
  new Database(path).close()
  await thread.run()
  await thread.stop()
})

test('[C7] calls to a thread that has ended are rejected', async () => {
  const path = join(folder, 'ended.db')
  const thread = startCheckpointThread(path)
  await thread.stop()
  await expect(thread.run()).rejects.toThrow('its thread has ended')
})

test('[C7] an idle thread does not keep the process alive, a checkpoint under way does', async () => {
  const path = join(folder, 'idle.db')
  new Database(path).close()
  const source = `
    import { startCheckpointThread } from ${JSON.stringify(join(import.meta.dir, 'sqlite-checkpoint-thread.ts'))}
    await startCheckpointThread(${JSON.stringify(path)}).run()
    console.log('made')`
  const child = Bun.spawn([process.execPath, '-e', source], { stdout: 'pipe' })
  expect(await new Response(child.stdout).text()).toBe('made\n')
  expect(await child.exited).toBe(0)
})
