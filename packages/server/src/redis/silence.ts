// Closes connections on which Redis owes an answer and sends nothing. Silence is counted in checks, not in milliseconds:
// a process that had to wait for a processor has not read its answers yet, and must not take its own delay for an outage.
// Answers come in the order of their commands, so a connection on which anything arrives is only slow.
import type { Redis } from 'ioredis'
import type { Clock, Timer } from '../platform/clock.ts'

const CHECK_EVERY_MS = 500
/** A second and a half, where the checks are on time. */
const SILENT_CHECKS_MAX = 3

/** What is looked at of a connection. It has no stream before it first connects. */
export interface Watched {
  stream?: { bytesRead: number; destroyed: boolean; destroy(): unknown }
  commandQueue: { length: number }
}

/** The types of ioredis have streams that may be no sockets, which these never are. */
export const watchSilence = (connections: () => readonly Redis[], clock: Clock): Timer =>
  watchAnswers(connections as unknown as () => readonly Watched[], clock)

export function watchAnswers(connections: () => readonly Watched[], clock: Clock): Timer {
  const silences = new WeakMap<object, { bytesRead: number; checks: number }>()

  function check({ stream, commandQueue }: Watched): void {
    if (stream === undefined || stream.destroyed) return
    const { bytesRead } = stream
    const silence = silences.get(stream)
    const isAnswered = commandQueue.length === 0 || silence?.bytesRead !== bytesRead
    if (silence === undefined || isAnswered) silences.set(stream, { bytesRead, checks: 0 })
    else if (++silence.checks >= SILENT_CHECKS_MAX) stream.destroy()
  }
  return clock.every(CHECK_EVERY_MS, () => {
    for (const connection of connections()) check(connection)
  })
}
