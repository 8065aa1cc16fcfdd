// Sees to it that no service outlives the tests that started it. `bun test` runs no exit hooks, and
// nothing runs in a process that is killed, so a second process does it: this file, started as a
// program. It is told what there is and reads until its input ends, which is when the tests have
// ended, however they did; then it ends what is left, by process id, and removes the folders.
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve, sep } from 'node:path'

/** What ends a process together with its children. */
export type EndingSignal = 'SIGKILL' | 'SIGQUIT'

type Line =
  | { about: 'started'; pid: number; signal: EndingSignal }
  | { about: 'ended'; pid: number }
  | { about: 'made'; folder: string }
  | { about: 'removed'; folder: string }

const FOLDER_ATTEMPTS_MAX = 50
const FOLDER_RETRY_MS = 100

type Reaper = Bun.Subprocess<'pipe', 'ignore', 'inherit'>
let reaper: Reaper | null = null

/** Once a process has ended its number may soon be somebody else's, so that is to be told as well. */
export function tellReaper(line: Line): void {
  reaper ??= startReaper()
  reaper.stdin.write(`${JSON.stringify(line)}\n`)
  void reaper.stdin.flush()
}

function startReaper(): Reaper {
  const child = Bun.spawn({
    cmd: [process.execPath, import.meta.path],
    stdio: ['pipe', 'ignore', 'inherit'],
    // Ctrl-C is for the tests; this one has work to do after it.
    detached: true,
  })
  child.unref()
  return child
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
    // Whoever is stopped hears nothing but the SIGKILL.
    send(pid, 'SIGCONT')
    send(pid, signal)
  }
  for (const folder of folders) await remove(folder)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It was quicker.
  }
}

/** Whoever is just ending may still write into it. */
async function remove(folder: string): Promise<void> {
  if (!resolve(folder).startsWith(resolve(tmpdir()) + sep)) return
  for (let attempt = 0; attempt < FOLDER_ATTEMPTS_MAX; attempt++) {
    await Bun.sleep(FOLDER_RETRY_MS)
    try {
      return rmSync(folder, { recursive: true, force: true })
    } catch {}
  }
}

if (import.meta.main) await reap()
