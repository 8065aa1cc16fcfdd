// Connections of dots that have their own `url` and `token`: one for all dots with the same attributes.
// Invariant: a connection is open while a dot in the document uses it.
import type { Dot } from '../types.ts'
import { openDot, type Where, whereOf } from './connection.ts'

interface Shared {
  key: string
  dot: Dot
  users: Set<Element>
}

const byKey = new Map<string, Shared>()
const byUser = new WeakMap<Element, Shared>()

/** The connection that the attributes of this element name, if any. `isUsed` is false once it is removed. */
export function sharedDot(user: Element, isUsed: boolean): Dot | null {
  const where = whereOf(user)
  const isNamed = isUsed && Object.values(where).some((value) => value !== null)
  const key = isNamed ? JSON.stringify(where) : null
  const former = byUser.get(user)
  if (former && former.key === key) return former.dot
  const next = key === null ? null : join(user, key, where)
  if (former) leave(user, former)
  if (next) byUser.set(user, next)
  else byUser.delete(user)
  return next?.dot ?? null
}

function join(user: Element, key: string, where: Where): Shared {
  const shared = byKey.get(key) ?? { key, dot: openDot(() => where), users: new Set() }
  byKey.set(key, shared)
  shared.users.add(user)
  return shared
}

function leave(user: Element, shared: Shared): void {
  shared.users.delete(user)
  if (shared.users.size > 0) return
  byKey.delete(shared.key)
  shared.dot.close()
}
