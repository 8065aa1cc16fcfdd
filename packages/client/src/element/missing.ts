// Says once per page, in the console, that a dot has no connection and what to do about it. A page in which
// dots stay unknown without a word is hard to mend. Waits first, because a provider may come after its dots.

const WAIT_MS = 1_000

let isSaid = false
let waiting = new Set<() => string | null>()

/** `problem` returns null if the dot has a connection by then, or is gone. */
export function reportMissing(problem: () => string | null): void {
  if (isSaid) return
  waiting.add(problem)
  if (waiting.size === 1) setTimeout(report, WAIT_MS)
}

function report(): void {
  const asked = waiting
  waiting = new Set()
  for (const problem of asked) {
    const text = problem()
    if (text === null) continue
    isSaid = true
    console.warn(`greendot: ${text}`)
    return
  }
}
