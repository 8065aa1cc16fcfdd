// Which user is behind each connection that may watch, and the connections of each user. Sessions and
// streams say so when they open and close, so that watching needs no look-up in their tables.
import { grown, NIL } from '../../platform/typed-arrays.ts'
import type { Interner } from '../interner.ts'

export interface Viewers {
  open(connection: number, userId: string): void
  close(connection: number): void
  /** The interned user behind a connection; NIL when it is not open. */
  userOf(connection: number): number
  userIdOf(connection: number): string
  connectionsOf(user: number): Generator<number>
}

export function createViewers(interner: Interner): Viewers {
  let users = new Int32Array(0)
  let nextOfUser = new Int32Array(0)
  let headOfUser = new Int32Array(0)

  return {
    open(connection, userId) {
      const user = interner.acquire(userId)
      users = grown(users, connection + 1, NIL)
      nextOfUser = grown(nextOfUser, connection + 1, NIL)
      headOfUser = grown(headOfUser, user + 1, NIL)
      users[connection] = user
      nextOfUser[connection] = headOfUser[user]!
      headOfUser[user] = connection
    },
    close(connection) {
      const user = users[connection]!
      if (headOfUser[user] === connection) headOfUser[user] = nextOfUser[connection]!
      else {
        let before = headOfUser[user]!
        while (nextOfUser[before] !== connection) before = nextOfUser[before]!
        nextOfUser[before] = nextOfUser[connection]!
      }
      users[connection] = NIL
      interner.release(user)
    },
    userOf: (connection) => (connection < users.length ? users[connection]! : NIL),
    userIdOf: (connection) => interner.name(users[connection]!),
    *connectionsOf(user) {
      if (user >= headOfUser.length) return
      for (let connection = headOfUser[user]!; connection !== NIL; connection = nextOfUser[connection]!)
        yield connection
    },
  }
}
