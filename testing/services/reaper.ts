// Sees to it that no service outlives the tests that started it. `bun test` runs no exit hooks, and
// nothing runs in a process that is killed, so a second process does it: this file, started as a
// program. It is told what there is and reads until its input ends, which is when the tests have
// ended, however they did; then it ends what is left, by process id, and removes the folders.
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { childrenOf, signalAll } from './processes.ts'

/** What ends a process together with its children. */
export type EndingSignal = 'SIGKILL' | 'SIGQUIT'

type Line =
  | { about: 'started'; pid: number; signal: EndingSignal }
  | { about: 'ended'; pid: number }
  | { about: 'made'; folder: string }
  | { about: 'removed'; folder: string }

const FOLDER_ATTEMPTS_MAX = 50
const FOLDER_RETRY_MS = 100

/** Where it listens: the writing end of a named pipe. */
let pipe: number | null = null

/** Once a process has ended another one may get its number, so that is to be told as well. */
export function tellReaper(line: Line): void {
  pipe ??= startReaper()
  writeSync(pipe, `${JSON.stringify(line)}\n`)
}

// Its work begins when the tests have ended, so it must not be their child: `bun --no-orphans`
// ends all descendants, and has those that are Bun themselves end with their parent, by a variable.
// A shell that ends at once leaves it behind; then there is no stream to it but a pipe with a name.
function startReaper(): number {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-reaper-'))
  const path = join(folder, 'pipe')
  Bun.spawnSync({ cmd: ['mkfifo', path] })
  // For reading as well, or it would wait here for a reader.
  const fd = openSync(path, 'r+')
  const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...env } = process.env
  Bun.spawnSync({
    cmd: ['sh', '-c', '"$0" "$1" < "$2" &', process.execPath, import.meta.path, path],
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  })
  writeSync(fd, `${JSON.stringify({ about: 'made', folder } satisfies Line)}\n`)
  return fd
}

async function reap(): Promise<void> {
  const living = new Map<number, EndingSignal>()
  const folders = new Set<string>()
  for await (const text of console) {
    if (text === '') continue
    const line = JSON.parse(text) as Line
    switch (line.about) {
      case 'started':
        living.set(line.pid, line.signal)
        break
      case 'ended':
        living.delete(line.pid)
        break
      case 'made':
        folders.add(line.folder)
        break
      case 'removed':
        folders.delete(line.folder)
    }
  }
  for (const [pid, signal] of living) {
    // A stopped process takes no signal but SIGKILL.
    signalAll([pid, ...(await childrenOf(pid))], 'SIGCONT')
    signalAll([pid], signal)
  }
  for (const folder of folders) await remove(folder)
}

/** A process that is just ending may still write into it. */
async function remove(folder: string): Promise<void> {
  if (!resolve(folder).startsWith(resolve(tmpdir()) + sep)) return
  for (let attempt = 0; attempt < FOLDER_ATTEMPTS_MAX; attempt++) {
    await Bun.sleep(FOLDER_RETRY_MS)
    try {
      return rmSync(folder, { recursive: true, force: true })
    } catch {
      // It is still written to; the next attempt comes later.
    }
  }
}

if (import.meta.main) await reap()
