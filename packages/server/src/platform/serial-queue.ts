// Queues in which jobs run one at a time: one queue for a connection, or one for each key where only jobs
// with the same key must not overlap. The number of waiting jobs is limited.

export type SerialQueue = <Result>(job: () => Promise<Result>) => Promise<Result>

/** Jobs run in the order they were added, also after a job that failed. */
export function createSerialQueue(waitingMax: number, whatTheyWaitFor: string): SerialQueue {
  const wait = createKeyedQueues(waitingMax, whatTheyWaitFor)
  return (job) => wait('', job)
}

/** One queue for each key. The limit applies to all queues together; a job past it is refused with this error. */
export function createKeyedQueues(
  waitingMax: number,
  whatTheyWaitFor: string,
  refusal: (why: string) => Error = (why) => new Error(why),
) {
  const last = new Map<string, Promise<unknown>>()
  let waiting = 0

  return async <Result>(key: string, job: () => Promise<Result>): Promise<Result> => {
    if (waiting >= waitingMax) throw refusal(`${waiting} already wait for ${whatTheyWaitFor}`)
    waiting += 1
    const result = (last.get(key) ?? Promise.resolve()).then(job)
    const ended = result.catch(() => {})
    last.set(key, ended)
    try {
      return await result
    } finally {
      waiting -= 1
      if (last.get(key) === ended) last.delete(key)
    }
  }
}
