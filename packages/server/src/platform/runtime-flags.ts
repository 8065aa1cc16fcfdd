// The settings of the runtime that servers run with. The runtime reads them once, when a process starts, so a server
// that was started without them replaces its process by the same program with them: same process id, same streams.
// Whatever starts the program (npm, a shell, systemd, a container) therefore needs to know nothing about them.

export const RUNTIME_FLAGS = {
  // The last and most expensive stage of the compiler starts two hundred times later. Otherwise it takes a fifth of a
  // core from new connections in the first minutes.
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '20000000',
  BUN_JSC_thresholdForFTLOptimizeSoon: '200000',
  // A full collection when the heap has grown by 0.8 times its size, not by twice. Every change replaces a record that is
  // old by then, and only a full collection finds it.
  BUN_JSC_heapGrowthMaxIncrease: '0.8',
  // The allocator looks for free memory to return every two seconds, not ten times a second, which was a third of what an
  // idle process used.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '2000',
}

/**
 * Does not return where the process was replaced. Values that are set already are kept. Where a process cannot be
 * replaced (Windows), the server runs without them: they change how fast it is, not what it does.
 */
export function runWithFlags(env: Readonly<Record<string, string | undefined>>): void {
  const isComplete = Object.keys(RUNTIME_FLAGS).every((name) => env[name] !== undefined)
  if (isComplete || process.execve === undefined) return
  const [file, ...args] = ownCommand()
  try {
    process.execve(file!, [file!, ...args, ...process.argv.slice(2)], { ...RUNTIME_FLAGS, ...env })
  } catch {
    // For example a sandbox that forbids it.
  }
}

/** How this program was started, without its arguments: as an executable, or as a script of the runtime. */
export function ownCommand(): string[] {
  if (Bun.isStandaloneExecutable) return [process.execPath]
  return [process.execPath, ...process.execArgv, Bun.main]
}
