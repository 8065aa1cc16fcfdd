// The life of a session on this gateway: it opens, heartbeats, ends. Only transitions are reported to the
// tracker; a heartbeat that changes nothing touches two numbers in the table. A session is in the table from
// the moment it opens until the moment it ends, and its end is reported once.
import type { Activity } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import type { Tally } from '../../platform/tally.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { SessionFacts } from '../../presence/core/event.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { PRIVACY_UNKNOWN } from '../../presence/core/privacy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import { type Tracked, type Tracker, UNSTORED_REVISION } from '../../presence/pipeline/tracker.ts'
import { Unavailable } from '../../presence/unavailable.ts'
import type { ConnectionNumbers } from '../connection-numbers.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Identity } from '../identity.ts'
import type { Interner } from '../interner.ts'
import type { Watching } from '../watching/watching.ts'
import type { OwnViews } from './own-views.ts'
import { ACTIVITY, type Opening, type SessionTable, type Socket } from './session-table.ts'

export type Ending = { how: 'left' } | { how: 'closed' } | { how: 'lost'; provenAt: number; at: number }

export interface Sessions {
  /** Takes a row; null when the user has as many sessions here as one may have. */
  admit(opening: Opening, socket: Socket | null): number | null
  /**
   * Reports the admitted session; null when it ended before the report was through. When it fails, the
   * caller ends the session.
   */
  announce(row: number, opening: Opening): Promise<Tracked | null>
  /** Any frame is a sign of life; only `active` is activity. One from an earlier instant than the last is ignored. */
  heartbeat(row: number, activity: Activity | null, at?: number): void
  /** No activity for the away time: the session is idle, whatever the client says. */
  fallIdle(row: number, at: number): void
  end(row: number, ending: Ending): void
  /** Announces the sessions of these users again, under the gateway's present name; done when that is committed. */
  announceAgain(isMeant: (userId: string) => boolean): Promise<void>
  /** The user chose after how much inactivity they are away; null for the server's own. */
  setAwayAfter(userId: string, awayAfterMs: number | null): void
  /** The rows of a user on this gateway: a copy, so sessions may end while it is walked. */
  rowsOf(userId: string): number[]
  userIdOf(row: number): string
}

export interface SessionsParts {
  table: SessionTable
  interner: Interner
  tracker: Tracker
  policy: Policy
  clock: Clock
  numbers: ConnectionNumbers
  identity: Identity
  delivery: Delivery
  watching: Watching
  ownViews: OwnViews
  sessionsPerUser: number
  tally: Tally
}

export function createSessions(parts: SessionsParts): Sessions {
  const { table, interner, tracker, policy, clock, numbers, identity, sessionsPerUser, tally } = parts
  const { delivery, watching, ownViews } = parts
  const { columns } = table
  tally.rateLimited.announce(['sessions'])

  function rowsOf(userId: string): number[] {
    const rows: number[] = []
    const user = interner.find(userId)
    if (user === -1) return rows
    for (let row = table.firstOfUser(user); row !== NIL; row = columns.nextOfUser[row]!) rows.push(row)
    return rows
  }

  function facts(row: number): SessionFacts {
    return {
      sessionId: table.sessionId(row),
      deviceId: columns.deviceIds[row]!,
      platform: table.platformOf(row),
      gatewayId: identity.id(),
      connectedAt: columns.connectedAt[row]!,
      lastActiveAt: columns.activeAt[row]!,
    }
  }

  const formerIds = (row: number) => identity.formerIds().map((former) => table.sessionId(row, former))

  const userIdOf = (row: number) => interner.name(columns.user[row]!)

  function reportActivity(row: number, activity: Activity, at: number): void {
    columns.activity[row] = ACTIVITY[activity]
    tracker.report(userIdOf(row), { type: activity, activity, at: table.stamp(row, at), ...facts(row) })
  }

  /** The user's settings that this gateway acts on. */
  function takeSettings(row: number, { record }: Tracked): void {
    columns.awayAfterMs[row] = record.awayAfter?.awayAfterMs ?? policy.awayAfterMs
    const privacy = record.settings === 'unknown' ? PRIVACY_UNKNOWN : record.privacy
    watching.learn(userIdOf(row), { privacy, contactsAt: record.contactsAt })
  }

  /** The session may have missed its own view, and is in it under its new id. */
  function tellOwnView(row: number, { record, revision }: Tracked): void {
    const userId = userIdOf(row)
    const view = toOwnPresence(userId, record, clock.now(), policy)
    const isInvisible = view.availability === 'invisible'
    ownViews.receive({ kind: 'self', userId, revision, isInvisible, json: JSON.stringify(view) })
  }

  return {
    admit(opening, socket) {
      if (rowsOf(opening.userId).length >= sessionsPerUser) {
        tally.rateLimited.add('sessions')
        return null
      }
      tally.connectionsOpened++
      const row = numbers.take()
      table.add(row, interner.acquire(opening.userId), opening, socket, clock.now())
      watching.open(row, opening.userId)
      if (socket !== null) delivery.attach(row, socket, opening.encoding)
      return row
    },

    async announce(row, opening) {
      const generation = columns.generation[row]
      const session = facts(row)
      const activity = opening.activity ?? 'active'
      const type = opening.activity ?? 'connected'
      const event = { type, activity, at: session.connectedAt, ...session } as const
      // The interned copy of the id, which all parts share, not the one that came with the token.
      const userId = userIdOf(row)
      // Without the store users still connect; healing announces them when it is back.
      const tracked = await tracker.apply(userId, event).catch(() => tracker.applyWithoutStore(userId, event))
      if (!table.isLive(row) || columns.generation[row] !== generation) return null
      const known = tracked.record.sessions.find(({ id }) => id === session.sessionId)
      // A device that came back carries on as it was, and the table must agree with the record.
      const isUnstored = tracked.revision === UNSTORED_REVISION
      // The user was erased at this moment, and sessions that began before it are void.
      if (known === undefined && !isUnstored) throw new Unavailable('the session began before an erasure')
      if (columns.activity[row] === ACTIVITY.unconfirmed && !isUnstored) {
        columns.activity[row] = ACTIVITY[known?.activity ?? activity]
      }
      takeSettings(row, tracked)
      return tracked
    },

    async announceAgain(isMeant) {
      const since = clock.now()
      const announced: Promise<unknown>[] = []
      for (const row of table.rows()) {
        if (!isMeant(userIdOf(row))) continue
        const activity = columns.activity[row] === ACTIVITY.idle ? 'idle' : 'active'
        // A session that opened without the store has yet to arrive; its device carries on as it was.
        const type = columns.activity[row] === ACTIVITY.unconfirmed ? 'connected' : activity
        const again = { since, formerIds: formerIds(row) }
        const event = { type, activity, at: table.stamp(row, since), ...facts(row), again } as const
        const generation = columns.generation[row]
        announced.push(
          tracker.apply(userIdOf(row), event).then((tracked) => {
            if (!table.isLive(row) || columns.generation[row] !== generation) return
            takeSettings(row, tracked)
            tellOwnView(row, tracked)
          }),
        )
      }
      await Promise.all(announced)
    },

    heartbeat(row, activity, at) {
      if (at !== undefined && at < columns.beatAt[row]!) return
      const now = at ?? clock.now()
      columns.beatAt[row] = now
      if (activity === 'active') {
        columns.activeAt[row] = now
        if (columns.activity[row] !== ACTIVITY.active) reportActivity(row, 'active', now)
      } else if (activity === 'idle' && columns.activity[row] !== ACTIVITY.idle) {
        reportActivity(row, 'idle', now)
      }
    },

    fallIdle: (row, at) => reportActivity(row, 'idle', at),

    end(row, ending) {
      const userId = userIdOf(row)
      // While the gateway heals, the record may know the session by a former name.
      const sessionIds = [table.sessionId(row), ...formerIds(row)]
      const device = { deviceId: columns.deviceIds[row]!, platform: table.platformOf(row) }
      const at = table.stamp(row, ending.how === 'lost' ? ending.at : clock.now())
      tally.connectionsClosed++
      if (ending.how === 'lost') tally.sessionsLost++
      const user = columns.user[row]!
      const socket = columns.sockets[row]
      // Frames that still come from the socket are ignored: its row may soon belong to another session.
      if (socket) socket.data = NIL
      delivery.detach(row)
      watching.close(row)
      ownViews.ended(row)
      table.remove(row)
      interner.release(user)
      numbers.giveBack(row)
      for (const sessionId of sessionIds) {
        if (ending.how === 'lost') {
          tracker.report(userId, { type: 'lost', sessionId, ...device, at, provenAt: ending.provenAt })
        } else tracker.report(userId, { type: ending.how, sessionId, ...device, at })
      }
    },

    setAwayAfter(userId, awayAfterMs) {
      for (const row of rowsOf(userId)) columns.awayAfterMs[row] = awayAfterMs ?? policy.awayAfterMs
    },
    rowsOf,
    userIdOf,
  }
}
