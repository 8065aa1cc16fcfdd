// A person's own view on their open sessions: every session gets each newer view once, and a view is
// held only until the last session that needs it has it.
import type { SelfMessage } from '../../bus/port.ts'
import { IMAGINED_REVISION } from '../../presence/pipeline/tracker.ts'
import type { Outbox } from '../delivery/outbox.ts'
import { NIL } from '../delivery/watch-index.ts'
import type { Interner } from '../interner.ts'
import type { SessionTable } from './session-table.ts'

export interface OwnViews {
  receive(message: SelfMessage): void
  /** The welcome of a session carried the own view of this revision. */
  welcomed(row: number, revision: number, isInvisible: boolean): void
  frameFor(row: number): string | null
  /** The newest own view, for a session that cannot be told and asks; null when it has that one. */
  take(row: number): string | null
  /** Whether the user has a session here that was welcomed, and was told of nothing that makes them invisible. */
  isOpenlyHere(user: number): boolean
  /** A session ended. */
  ended(row: number): void
  /** Revisions may begin again: whatever comes next is news. */
  forgetRevisions(): void
}

export function createOwnViews(parts: {
  table: SessionTable
  interner: Interner
  outbox: () => Outbox
  /** Whether a user is here openly may have changed. */
  onOpenness(user: number): void
}): OwnViews {
  const { table, interner, outbox, onOpenness } = parts
  const { columns } = table
  const views = new Map<number, { revision: number; json: string }>()
  const invisible = new Set<number>()

  /** Not by what is older than what their sessions were told. */
  function noteVisibility(user: number, revision: number, isInvisible: boolean): void {
    for (let row = table.firstOfUser(user); row !== NIL; row = columns.nextOfUser[row]!) {
      if (columns.ownRevision[row]! > revision) return
    }
    if (invisible.has(user) === isInvisible) return
    if (isInvisible) invisible.add(user)
    else invisible.delete(user)
    onOpenness(user)
  }

  function isWelcomed(user: number): boolean {
    let row = table.firstOfUser(user)
    while (row !== NIL && columns.ownRevision[row] === 0) row = columns.nextOfUser[row]!
    return row !== NIL
  }

  function dropIfDelivered(user: number): void {
    const view = views.get(user)
    if (view === undefined) return
    for (let row = table.firstOfUser(user); row !== NIL; row = columns.nextOfUser[row]!) {
      if (columns.ownRevision[row]! < view.revision) return
    }
    views.delete(user)
  }

  function take(row: number): string | null {
    const user = columns.user[row]!
    const view = views.get(user)
    const known = columns.ownRevision[row]!
    // Before its welcome there is nothing to be newer than.
    if (view === undefined || known === 0 || view.revision <= known) return null
    columns.ownRevision[row] = view.revision
    dropIfDelivered(user)
    return view.json
  }

  return {
    receive({ userId, revision, json }) {
      const user = interner.find(userId)
      if (user === -1 || table.firstOfUser(user) === NIL) return
      const view = views.get(user)
      if (view !== undefined && view.revision >= revision) return
      views.set(user, { revision, json })
      // Whatever anybody writes about themselves, its quotation marks are escaped.
      noteVisibility(user, revision, json.includes('"availability":"invisible"'))
      for (let row = table.firstOfUser(user); row !== NIL; row = columns.nextOfUser[row]!) {
        // Before its welcome a session has revision 0; the welcome looks here for something newer.
        if (
          columns.sockets[row] !== null &&
          columns.ownRevision[row]! > 0 &&
          columns.ownRevision[row]! < revision
        ) {
          outbox().markOwn(row)
        }
      }
      dropIfDelivered(user)
    },
    welcomed(row, revision, isInvisible) {
      const user = columns.user[row]!
      const isFirst = !isWelcomed(user)
      columns.ownRevision[row] = revision
      if ((views.get(user)?.revision ?? 0) > revision) outbox().markOwn(row)
      else {
        noteVisibility(user, revision, isInvisible)
        dropIfDelivered(user)
      }
      if (isFirst) onOpenness(user)
    },
    take,
    isOpenlyHere: (user) => !invisible.has(user) && isWelcomed(user),
    frameFor(row) {
      const json = take(row)
      return json === null ? null : `{"type":"self","presence":${json}}`
    },
    forgetRevisions() {
      views.clear()
      for (const row of table.rows())
        if (columns.ownRevision[row]! > 0) columns.ownRevision[row] = IMAGINED_REVISION
    },
    ended(row) {
      const user = columns.user[row]!
      columns.ownRevision[row] = 0
      const isLast = table.firstOfUser(user) === row && columns.nextOfUser[row] === NIL
      if (isLast) {
        views.delete(user)
        invisible.delete(user)
      }
      if (!isWelcomed(user)) onOpenness(user)
    },
  }
}
