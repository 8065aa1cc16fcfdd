// Which user is behind a connection, compared with a plain map.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { NIL } from '../../platform/typed-arrays.ts'
import { createInterner } from '../interner.ts'
import { createViewers } from './viewers.ts'

const CONNECTIONS = 8
const USERS = ['alice', 'bob', '__proto__']

test('[W3] any sequence of opening and closing agrees with a plain map, and leaves no user interned', () => {
  const steps = fc.array(
    fc.record({ connection: fc.nat(CONNECTIONS - 1), userId: fc.constantFrom(...USERS) }),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(steps, (sequence) => {
      const interner = createInterner()
      const viewers = createViewers(interner)
      const model = new Map<number, string>()
      const close = (connection: number) => {
        viewers.close(connection)
        model.delete(connection)
      }
      for (const { connection, userId } of sequence) {
        if (model.has(connection)) close(connection)
        else {
          viewers.open(connection, userId)
          model.set(connection, userId)
        }
        for (let one = 0; one <= CONNECTIONS; one++) {
          expect(viewers.userOf(one) !== NIL).toBe(model.has(one))
          if (model.has(one)) expect(viewers.userIdOf(one)).toBe(model.get(one)!)
        }
        for (const one of USERS) {
          const user = interner.find(one)
          const connections = user === NIL ? [] : [...viewers.connectionsOf(user)]
          expect(connections.sort()).toEqual([...model.keys()].filter((key) => model.get(key) === one).sort())
        }
      }
      for (const connection of [...model.keys()]) close(connection)
      expect(interner.size()).toBe(0)
    }),
  )
})

test('a user without connections has none, however large the number', () => {
  expect([...createViewers(createInterner()).connectionsOf(1_000)]).toEqual([])
})
