// Lines in which jobs wait for their turn: one for a connection that does one thing at a time, or one
// for each key where only jobs with the same key must not meet. No line is without an end.

export type Line = <Result>(job: () => Promise<Result>) => Promise<Result>

/** Jobs run one after the other, in the order they came, whatever became of those before. */
export function createLine(waitingMax: number, whatTheyWaitFor: string): Line {
  const wait = createLines(waitingMax, whatTheyWaitFor)
  return (job) => wait('', job)
}

/** The same for every key by itself; the limit is on all of them together. */
export function createLines(waitingMax: number, whatTheyWaitFor: string) {
  const last = new Map<string, Promise<unknown>>()
  let waiting = 0

  return async <Result>(key: string, job: () => Promise<Result>): Promise<Result> => {
    if (waiting >= waitingMax) throw new Error(`${waiting} already wait for ${whatTheyWaitFor}`)
    waiting += 1
    const result = (last.get(key) ?? Promise.resolve()).then(job)
    const settled = result.catch(() => {})
    last.set(key, settled)
    try {
      return await result
    } finally {
      waiting -= 1
      if (last.get(key) === settled) last.delete(key)
    }
  }
}
