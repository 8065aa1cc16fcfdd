// Lists the processes of this machine, for services that consist of several: PostgreSQL has one
// process for each connection. Uses `ps`, which every Unix has.

interface ProcessLine {
  pid: number
  parentPid: number
  /** A zombie: it has ended, and its parent has not waited for it yet. */
  isZombie: boolean
}

export async function childrenOf(pid: number): Promise<number[]> {
  const all = await listProcesses()
  return all.filter(({ parentPid }) => parentPid === pid).map((one) => one.pid)
}

/** Those of `pids` that have not ended. */
export async function stillRunning(pids: readonly number[]): Promise<number[]> {
  const all = await listProcesses()
  return all.filter(({ pid, isZombie }) => pids.includes(pid) && !isZombie).map(({ pid }) => pid)
}

/** Processes that have ended meanwhile are ignored. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}

async function listProcesses(): Promise<ProcessLine[]> {
  const child = Bun.spawn({
    cmd: ['ps', '-A', '-o', 'pid=,ppid=,stat='],
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const text = await new Response(child.stdout).text()
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [pid, parentPid, state = ''] = line.trim().split(/\s+/)
      return { pid: Number(pid), parentPid: Number(parentPid), isZombie: state.startsWith('Z') }
    })
}
