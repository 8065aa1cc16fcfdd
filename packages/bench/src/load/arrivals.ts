// Opens the connections of a load process. At a fixed rate every connect is due at an instant and timed from
// there, whether the ones before it are done or not. In parallel, the next connect begins when one is done;
// that is for connecting all users, not for timing.

import { createLatencies } from '../figures/histogram.ts'
import { now } from '../platform/clock.ts'
import type { LoadUsers } from './load-users.ts'
import type { Arrivals, ConnectReport } from './orders.ts'

const TICK_MS = 1

export function arrive(loadUsers: LoadUsers, arrivals: Arrivals, limitMs: number): Promise<ConnectReport> {
  const users = loadUsers.users.filter((user) => user >= arrivals.from && user < arrivals.to)
  const latencies = createLatencies()
  let next = 0
  let done = 0
  let failed = 0
  let lastReadyAt = 0

  return new Promise((resolve) => {
    let ticker: Timer | undefined
    const limit = setTimeout(() => finish(), limitMs)

    function finish(): void {
      clearInterval(ticker)
      clearTimeout(limit)
      failed += users.length - done
      resolve({ latencies: latencies.encode(), failed, lastReadyAt })
    }

    function openNext(dueAt: number): void {
      let isOver = false
      const end = (isReady: boolean) => {
        if (isOver) return
        isOver = true
        done++
        if (isReady) {
          lastReadyAt = now()
          latencies.record(lastReadyAt - dueAt)
        } else failed++
        if (done === users.length) finish()
        else if (arrivals.how === 'parallel' && next < users.length) openNext(now())
      }
      loadUsers.open(
        users[next++]!,
        () => end(true),
        () => end(false),
      )
    }

    if (users.length === 0) finish()
    else if (arrivals.how === 'parallel') {
      for (let count = 0; count < arrivals.parallel && next < users.length; count++) openNext(now())
    } else {
      const dueOf = (user: number) => arrivals.startAt + ((user - arrivals.from) / arrivals.perSecond) * 1000
      ticker = setInterval(() => {
        while (next < users.length && dueOf(users[next]!) <= now()) openNext(dueOf(users[next]!))
      }, TICK_MS)
    }
  })
}

const RETRY_MS = 200

/** Opens a user's connection, and again until it is ready. Random waits keep the users from retrying together. */
function reconnect(loadUsers: LoadUsers, user: number): void {
  loadUsers.open(
    user,
    () => loadUsers.connectionOf(user)?.mark(),
    () => setTimeout(() => reconnect(loadUsers, user), RETRY_MS * (0.5 + Math.random())),
  )
}

/** A user that loses its connection reconnects at once. */
export function keepReconnecting(loadUsers: LoadUsers): void {
  loadUsers.onLost((user) => reconnect(loadUsers, user))
}

/** Users without changes and without exact connections disconnect and reconnect in turns. Returns how to stop it. */
export function keepCycling(loadUsers: LoadUsers, perSecond: number): () => void {
  const cycled = loadUsers.users.filter(
    (user) => !loadUsers.isExact(user) && loadUsers.schedule.serialsOf(user) === 0,
  )
  if (cycled.length === 0 || perSecond === 0) return () => {}
  let next = 0
  const timer = setInterval(() => {
    const user = cycled[next++ % cycled.length]!
    // A user that is still reconnecting is left alone.
    if (loadUsers.disconnect(user)) reconnect(loadUsers, user)
  }, 1000 / perSecond)
  return () => clearInterval(timer)
}
