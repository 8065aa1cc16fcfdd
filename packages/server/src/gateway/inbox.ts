// Messages from the bus, each handed to the part it concerns.
import { CLOSE, type Failure } from '@greendot/protocol'
import type { BusMessage } from '../bus/port.ts'
import type { Tracer } from '../platform/measuring/tracing.ts'
import type { QueryCache } from '../presence/reading/query-cache.ts'
import type { Connections } from './sessions/connections.ts'
import type { Watching } from './watching/watching.ts'

const ERASED: Failure = { code: 'unauthorized', message: 'everything about this user was erased' }

export type Inbox = (messages: readonly BusMessage[]) => void

export interface InboxParts
  extends Pick<Connections, 'sessions' | 'ownViews' | 'sockets' | 'streams' | 'httpSessions'> {
  watching: Watching
  cache: QueryCache
  /** Null where nothing is traced. */
  tracer?: Tracer | null
}

export function createInbox(parts: InboxParts): Inbox {
  const { watching, ownViews, sessions, sockets, streams, httpSessions, cache, tracer } = parts

  function receive(message: BusMessage): void {
    // These go to other names of this process.
    if (message.kind === 'foreign' || message.kind === 'foreign_answer') return
    cache.forget(message.userId)
    switch (message.kind) {
      case 'change':
        watching.change(
          message,
          message.trace === undefined ? null : tracer?.resume(message.trace, 'gateway.deliver'),
        )
        break
      case 'self':
        ownViews.receive(message)
        break
      case 'settings':
        sessions.setAwayAfter(message.userId, message.awayAfter?.awayAfterMs ?? null)
        break
      case 'gone':
        watching.gone(message)
        break
      case 'left':
        httpSessions.left(message)
        break
      case 'erased':
        for (const row of sessions.rowsOf(message.userId))
          sockets.hangUp(row, CLOSE.badToken, 'erased', ERASED)
        streams.end(message.userId)
        watching.erase(message)
    }
  }

  return (messages) => {
    for (const message of messages) receive(message)
  }
}
