// Ends every service that outlives its test process. `bun test` runs no exit hooks, and a killed process runs
// nothing, so a second process does it: this file, started as a program. Test processes report what they start
// and create. When its input ends, all of them have ended; then it ends the remaining services by process id
// and removes the folders.
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { childrenOf, signalAll } from './processes.ts'

/** A signal that ends a process together with its children. */
export type EndingSignal = 'SIGKILL' | 'SIGQUIT'

type Line =
  | { about: 'started'; pid: number; signal: EndingSignal }
  | { about: 'ended'; pid: number }
  | { about: 'made'; folder: string }
  | { about: 'removed'; folder: string }

const FOLDER_ATTEMPTS_MAX = 50
const FOLDER_RETRY_MS = 100

/** The writing end of the named pipe that the reaper reads. */
let pipe: number | null = null

/** The end of a process is reported too, because another process may get its id. */
export function tellReaper(line: Line): void {
  pipe ??= startReaper()
  writeSync(pipe, `${JSON.stringify(line)}\n`)
}

// The reaper must survive the tests, so it must not be their child: `bun --no-orphans` ends all descendants, and
// makes Bun children end with their parent by a variable. A shell starts it and exits at once, so that only a
// named pipe connects the two.
function startReaper(): number {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-reaper-'))
  const path = join(folder, 'pipe')
  Bun.spawnSync({ cmd: ['mkfifo', path] })
  // Opened for reading too, because opening for writing only waits for a reader.
  const fd = openSync(path, 'r+')
  const { BUN_FEATURE_FLAG_NO_ORPHANS: _, ...env } = process.env
  Bun.spawnSync({
    // The shell opens the pipe before it returns: a test process that is killed right after would take what it wrote
    // with it, if nothing had opened the other end.
    cmd: ['sh', '-c', 'exec 3< "$2"; "$0" "$1" <&3 &', process.execPath, import.meta.path, path],
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
    // A stopped process handles no signal but SIGKILL.
    signalAll([pid, ...(await childrenOf(pid))], 'SIGCONT')
    signalAll([pid], signal)
  }
  for (const folder of folders) await remove(folder)
}

/** A process that is ending may still write into the folder. */
async function remove(folder: string): Promise<void> {
  if (!resolve(folder).startsWith(resolve(tmpdir()) + sep)) return
  for (let attempt = 0; attempt < FOLDER_ATTEMPTS_MAX; attempt++) {
    await Bun.sleep(FOLDER_RETRY_MS)
    try {
      return rmSync(folder, { recursive: true, force: true })
    } catch {
      // Still in use; tried again.
    }
  }
}

if (import.meta.main) await reap()
