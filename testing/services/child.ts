// One process of a service: started, awaited until it prints that it is ready, signalled, and ended at the latest
// with the tests. The end of its output is kept for the error when it does not start.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EndingSignal, tellReaper } from './reaper.ts'
import { within } from './within.ts'

/** A broker on a busy machine takes a while. A start that hangs is found all the same. */
const START_MS_MAX = 50_000
const STOP_MS_MAX = 10_000
const SAID_CHARS_MAX = 4_000

export interface ChildOptions {
  name: string
  cmd: string[]
  /** Its working directory. */
  folder: string
  /** Part of the line that it prints when it is ready. */
  readyWhen: string
  endingSignal: EndingSignal
  user?: { uid: number; gid: number } | null
}

export interface Child {
  pid: number
  exited: Promise<void>
  isRunning(): boolean
  signal(signal: NodeJS.Signals): void
  /** Sends the signal, and SIGKILL when it does not end in time. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** A temporary folder that is removed at the latest when this process ends. */
export function newFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `greendot-${name}-`))
  tellReaper({ about: 'made', folder })
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  tellReaper({ about: 'removed', folder })
}

export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, cmd, folder, readyWhen, endingSignal, user } = options
  const child = Bun.spawn({
    cmd,
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
  })
  child.unref()
  tellReaper({ about: 'started', pid: child.pid, signal: endingSignal })
  let running = true
  const exited = child.exited.then(() => {
    running = false
    tellReaper({ about: 'ended', pid: child.pid })
  })
  try {
    await within(START_MS_MAX, `the start of ${name}`, untilSaid([child.stdout, child.stderr], readyWhen))
  } catch (error) {
    if (running) child.kill(endingSignal)
    throw error
  }
  return {
    pid: child.pid,
    exited,
    isRunning: () => running,
    signal: (signal) => child.kill(signal),
    async end(signal) {
      if (!running) return
      child.kill(signal)
      try {
        await within(STOP_MS_MAX, `the end of ${name}`, exited)
      } catch {
        child.kill('SIGKILL')
        await exited
      }
    },
  }
}

/** The streams are always read to their end, so that the process never waits for a reader. */
function untilSaid(streams: ReadableStream<Uint8Array>[], text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const reading = streams.map(async (stream) => {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        said = (said + decoder.decode(chunk, { stream: true })).slice(-SAID_CHARS_MAX)
        if (said.includes(text)) resolve()
      }
    })
    void Promise.all(reading).then(() => reject(new Error(`It ended before it was ready: ${said.trim()}`)))
  })
}
