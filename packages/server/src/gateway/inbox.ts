// What other processes tell this gateway, each kind to the part it concerns.
import { CLOSE, type Failure } from '@greendot/protocol'
import type { BusMessage } from '../bus/port.ts'
import type { Discretion } from '../presence/core/privacy.ts'
import type { Reader } from '../presence/reading/reader.ts'
import type { Interner } from './interner.ts'
import type { OwnViews } from './sessions/own-views.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { Sockets } from './sessions/sockets.ts'
import type { Streams } from './sessions/streams.ts'
import type { Following } from './watching/contact-following.ts'
import type { Sights } from './watching/view-levels.ts'
import type { Discretions } from './watching/visibility-inputs.ts'
import type { Watches } from './watching/watches.ts'

const ERASED: Failure = { code: 'unauthorized', message: 'everything about this user was erased' }

export interface Inbox {
  receive(messages: readonly BusMessage[]): void
  /** A user who is here chose who may see them, or their contact list was edited. */
  takeDiscretion(user: number, discretion: Discretion): void
}

export interface InboxParts {
  interner: Interner
  discretions: Discretions
  sights: Sights
  watches: Watches
  following: Following
  ownViews: OwnViews
  sessions: Sessions
  sockets: () => Sockets
  streams: Streams
  reader: Reader
}

export function createInbox(parts: InboxParts): Inbox {
  const { interner, discretions, sights, watches, following, ownViews, sessions, sockets, streams } = parts
  const { reader } = parts

  function takeDiscretion(user: number, discretion: Discretion): void {
    if (discretions.learn(user, discretion)) sights.review(user)
    const { contactsAt } = discretion
    if (contactsAt > 0) following.edited(sessions.rowsOf(interner.name(user)), contactsAt)
  }

  function receive(message: BusMessage): void {
    switch (message.kind) {
      case 'change':
        watches.receive(message)
        break
      case 'self':
        ownViews.receive(message)
        break
      case 'choices': {
        const user = interner.find(message.userId)
        if (user === -1) break
        sessions.setAwayAfter(message.userId, message.awayAfter?.awayAfterMs ?? null)
        takeDiscretion(user, message.discretion)
        break
      }
      case 'erased':
        for (const row of sessions.rowsOf(message.userId))
          sockets().hangUp(row, CLOSE.badToken, 'erased', ERASED)
        streams.end(message.userId)
        watches.erase(message)
    }
  }

  return {
    takeDiscretion,
    receive(messages) {
      for (const message of messages) {
        if (message.kind === 'erased') reader.erase(message.userId)
        else reader.forget(message.userId)
        receive(message)
      }
    },
  }
}
