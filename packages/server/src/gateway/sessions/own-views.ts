// A user's own view on the user's sessions: every session gets each newer view once. Sockets are pushed the
// frame; a session over HTTP gets the newest view with its next heartbeat, so that one is kept here.
import type { SelfMessage } from '../../bus/port.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import { UNSTORED_REVISION } from '../../presence/pipeline/tracker.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Interner } from '../interner.ts'
import type { Watching } from '../watching/watching.ts'
import type { SessionTable } from './session-table.ts'

export interface OwnViews {
  receive(message: SelfMessage): void
  /** The welcome of a session carried the own view of this revision. */
  welcomed(row: number, revision: number, isInvisible: boolean): void
  /** The newest own view for a session over HTTP; null when it has that one. */
  take(row: number): string | null
  /** A session ended. */
  ended(row: number): void
  /** Revisions may begin again: the next view is newer than any before it. */
  forgetRevisions(): void
}

export interface OwnViewsParts {
  table: SessionTable
  interner: Interner
  delivery: Pick<Delivery, 'own'>
  watching: Pick<Watching, 'setVisible'>
}

export function createOwnViews({ table, interner, delivery, watching }: OwnViewsParts): OwnViews {
  const { columns } = table
  /** Views that a session without a socket, or one before its welcome, has yet to get. */
  const views = new Map<number, { revision: number; json: string }>()

  /** Watching is told whether the user is visible, but not by a view older than the sessions have. */
  function noteVisibility(user: number, revision: number, isInvisible: boolean): void {
    for (let row = table.firstOfUser(user); row !== NIL; row = columns.nextOfUser[row]!)
      if (columns.ownRevision[row]! > revision) return
    watching.setVisible(interner.name(user), !isInvisible)
  }

  /** Tells a session that was welcomed; false when it has to ask for the view. */
  function tell(row: number, revision: number, json: string): boolean {
    const known = columns.ownRevision[row]!
    if (known >= revision) return true
    if (known === 0 || columns.sockets[row] === null) return false
    columns.ownRevision[row] = revision
    delivery.own(row, `{"type":"self","presence":${json}}`)
    return true
  }

  /** Keeps the view as long as a session has not got it. */
  function tellAll(user: number, revision: number, json: string): void {
    let isDelivered = true
    for (let row = table.firstOfUser(user); row !== NIL; row = columns.nextOfUser[row]!)
      if (!tell(row, revision, json)) isDelivered = false
    if (isDelivered) views.delete(user)
    else views.set(user, { revision, json })
  }

  return {
    receive({ userId, revision, isInvisible, json }) {
      const user = interner.find(userId)
      if (user === NIL || table.firstOfUser(user) === NIL) return
      if ((views.get(user)?.revision ?? 0) >= revision) return
      noteVisibility(user, revision, isInvisible)
      tellAll(user, revision, json)
    },
    welcomed(row, revision, isInvisible) {
      const user = columns.user[row]!
      columns.ownRevision[row] = revision
      const view = views.get(user)
      if ((view?.revision ?? 0) <= revision) noteVisibility(user, revision, isInvisible)
      if (view !== undefined) tellAll(user, view.revision, view.json)
    },
    take(row) {
      const user = columns.user[row]!
      const view = views.get(user)
      const known = columns.ownRevision[row]!
      // Before its welcome there is nothing to be newer than.
      if (view === undefined || known === 0 || view.revision <= known) return null
      columns.ownRevision[row] = view.revision
      tellAll(user, view.revision, view.json)
      return view.json
    },
    ended(row) {
      const user = columns.user[row]!
      columns.ownRevision[row] = 0
      const isLast = table.firstOfUser(user) === row && columns.nextOfUser[row] === NIL
      if (!isLast) return
      views.delete(user)
      watching.setVisible(interner.name(user), false)
    },
    forgetRevisions() {
      views.clear()
      for (const row of table.rows())
        if (columns.ownRevision[row]! > 0) columns.ownRevision[row] = UNSTORED_REVISION
    },
  }
}
