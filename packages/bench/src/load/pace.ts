// Changes and heartbeats at the instants when they are due. One timer for all; a late tick does everything
// that became due meanwhile, so the rate holds and the lateness shows in the figures.
import { now } from '../platform/clock.ts'
import type { LoadUsers } from './load-users.ts'

const TICK_MS = 1

/** Makes the changes of this process when they are due, also those of phases added later. */
export function keepChanging(loadUsers: LoadUsers): void {
  const { schedule } = loadUsers
  const own = new Set(loadUsers.users)
  let next = 0
  setInterval(() => {
    const total = schedule.total()
    while (next < total && schedule.dueAt(next) <= now()) {
      if (own.has(schedule.userOf(next))) loadUsers.make(next)
      next++
    }
  }, TICK_MS)
}

/** Each user sends a heartbeat once per interval, spread evenly. Returns how to stop it. */
export function keepBeating(loadUsers: LoadUsers, everyMs: number): () => void {
  const { users } = loadUsers
  const startedAt = now()
  let done = 0
  const timer = setInterval(() => {
    const due = Math.floor(((now() - startedAt) / everyMs) * users.length)
    while (done < due) loadUsers.connectionOf(users[done++ % users.length]!)?.beat()
  }, TICK_MS * 5)
  return () => clearInterval(timer)
}
