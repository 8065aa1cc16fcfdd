// The own view on the sessions of a user: each session gets every newer view once and none backwards. Sockets
// are pushed the newest with a flush; sessions over HTTP take it with their next heartbeat.
import { beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { OPEN_RULES } from '../../../../../testing/worlds/records.ts'
import { createTally } from '../../platform/measuring/tally.ts'
import { createEvaluator } from '../../presence/privacy/evaluator.ts'
import { createConnectionNumbers } from '../connection-numbers.ts'
import { createDelivery } from '../delivery/delivery.ts'
import { ALL_AT_ONCE } from '../delivery/plans.ts'
import { createIdentity } from '../identity.ts'
import { createInterner } from '../interner.ts'
import { createOwnViews } from './own-views.ts'
import { createSessionTable, type Opening, type Socket } from './session-table.ts'

const NOW = 1_750_000_000_000
const FLUSH_MS = 50
const opening: Opening = {
  userId: 'bob',
  deviceId: 'd1',
  platform: 'web',
  activity: null,
  tokenExpiresAt: null,
}

interface Session {
  row: number
  userId: string
  /** Revisions of the own views it got, pushed or taken. */
  got: number[]
}

let world: ReturnType<typeof createWorld>
beforeEach(() => {
  world = createWorld()
})

/** Own views with the parts around them. */
function createWorld() {
  const clock = createFakeClock(NOW)
  const interner = createInterner()
  const numbers = createConnectionNumbers()
  const table = createSessionTable(createIdentity())
  const evaluator = createEvaluator(OPEN_RULES)
  const tally = createTally()
  const visible: [string, boolean][] = []
  const delivery = createDelivery({
    interner,
    evaluator,
    clock,
    flushMs: FLUSH_MS,
    plans: ALL_AT_ONCE,
    tally,
  })
  const ownViews = createOwnViews({
    table,
    interner,
    delivery,
    watching: { setVisible: (userId, isVisible) => void visible.push([userId, isVisible]) },
  })
  const { columns } = table

  return {
    ownViews,
    visible,
    flush: () => clock.advance(2 * FLUSH_MS),
    open(userId: string, kind: 'socket' | 'http' = 'socket'): Session {
      const session: Session = { row: numbers.take(), userId, got: [] }
      // Own views only ask whether there is a socket.
      const socket = kind === 'socket' ? ({} as Socket) : null
      table.add(session.row, interner.acquire(userId), { ...opening, userId }, socket, clock.now())
      const send = (text: string) => {
        const { type, presence } = JSON.parse(text)
        expect(type).toBe('self')
        return session.got.push(presence.revision)
      }
      if (socket !== null) delivery.attach(session.row, { send })
      return session
    },
    change: (userId: string, revision: number, isInvisible = false) =>
      ownViews.receive({ kind: 'self', userId, revision, isInvisible, json: JSON.stringify({ revision }) }),
    /** A heartbeat over HTTP. */
    take({ row, got }: Session): void {
      const json = ownViews.take(row)
      if (json !== null) got.push(JSON.parse(json).revision)
    },
    isHttp: ({ row }: Session) => columns.sockets[row] === null,
    end({ row }: Session): void {
      const user = columns.user[row]!
      delivery.detach(row)
      ownViews.ended(row)
      table.remove(row)
      interner.release(user)
      numbers.giveBack(row)
    },
  }
}

const welcomed = (session: Session, revision: number, isInvisible = false) =>
  world.ownViews.welcomed(session.row, revision, isInvisible)

describe('an own view', () => {
  test('reaches every session of its user and of no other', async () => {
    const sessions = [world.open('bob'), world.open('bob'), world.open('alice')]
    for (const session of sessions) welcomed(session, 1)
    world.change('bob', 2)
    world.change('unknown', 3)
    await world.flush()
    expect(sessions.map(({ got }) => got)).toEqual([[2], [2], []])
  })

  test('[W5] is the newest when several come within a flush', async () => {
    const session = world.open('bob')
    welcomed(session, 1)
    for (const revision of [2, 4, 3]) world.change('bob', revision)
    await world.flush()
    expect(session.got).toEqual([4])
  })

  test('is not sent before the welcome, and after it only if it is newer', async () => {
    const [same, newer] = [world.open('bob'), world.open('alice')]
    for (const userId of ['bob', 'alice']) world.change(userId, 5)
    await world.flush()
    welcomed(same, 5)
    welcomed(newer, 4)
    await world.flush()
    expect([same.got, newer.got]).toEqual([[], [5]])
  })

  test('waits for the heartbeat of a session over HTTP, while sockets get it at once', async () => {
    const [http, socket] = [world.open('bob', 'http'), world.open('bob')]
    for (const session of [http, socket]) welcomed(session, 1)
    world.change('bob', 2)
    await world.flush()
    expect([http.got, socket.got]).toEqual([[], [2]])
    world.change('bob', 3)
    for (let heartbeat = 0; heartbeat < 2; heartbeat++) world.take(http)
    await world.flush()
    expect([http.got, socket.got]).toEqual([[3], [2, 3]])
  })

  test('is not sent to the next session with the same row and user number', async () => {
    for (const kind of ['socket', 'http'] as const) {
      const session = world.open('bob', kind)
      welcomed(session, 1)
      world.change('bob', 9)
      world.end(session)
      const next = world.open('alice', kind)
      expect(next.row).toBe(session.row)
      welcomed(next, 1)
      await world.flush()
      world.take(next)
      expect(next.got).toEqual([])
      world.end(next)
    }
  })

  test('[C7] is newer than any before once revisions may begin again', async () => {
    const [http, socket, unwelcomed] = [world.open('bob', 'http'), world.open('bob'), world.open('bob')]
    for (const session of [http, socket]) welcomed(session, 900)
    world.change('bob', 901)
    await world.flush()
    world.ownViews.forgetRevisions()
    world.take(http)
    expect(http.got).toEqual([])
    world.change('bob', 3)
    await world.flush()
    world.take(http)
    expect([http.got, socket.got, unwelcomed.got]).toEqual([[3], [901, 3], []])
  })
})

test('[W5] after any history every welcomed session has the newest view, each once and in order', async () => {
  const step = fc.record({
    does: fc.constantFrom('open', 'open http', 'welcome', 'change', 'replay', 'take', 'end', 'wait'),
    userId: fc.constantFrom('bob', 'alice', '__proto__'),
    pick: fc.nat(20),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
      world = createWorld()
      const newest = new Map<string, number>()
      const sessions: { session: Session; openedWith: number; isWelcome: boolean }[] = []
      let revision = 0
      const change = (userId: string) => {
        newest.set(userId, ++revision)
        world.change(userId, revision)
      }
      for (const { does, userId, pick } of steps) {
        const at = sessions.length === 0 ? 0 : pick % sessions.length
        const one = sessions[at]
        if (does === 'open' || does === 'open http') {
          // The opening is a change for the other sessions, and what the welcome will carry.
          const session = world.open(userId, does === 'open' ? 'socket' : 'http')
          change(userId)
          sessions.push({ session, openedWith: revision, isWelcome: false })
        } else if (does === 'change') change(userId)
        else if (does === 'replay') world.change(userId, Math.min(pick, newest.get(userId) ?? 0))
        else if (does === 'wait') await world.flush()
        else if (one === undefined) continue
        else if (does === 'take' && world.isHttp(one.session)) world.take(one.session)
        else if (does === 'end') {
          world.end(one.session)
          sessions.splice(at, 1)
        } else if (does === 'welcome' && !one.isWelcome) {
          one.isWelcome = true
          welcomed(one.session, one.openedWith)
        }
      }
      await world.flush()
      for (const { session, openedWith, isWelcome } of sessions) {
        if (world.isHttp(session)) world.take(session)
        const { got, userId } = session
        if (!isWelcome) expect(got).toEqual([])
        else {
          expect(got).toEqual([...new Set(got)].sort((a, b) => a - b))
          expect(got.every((revision) => revision > openedWith)).toBe(true)
          expect(got.at(-1) ?? openedWith).toBe(newest.get(userId)!)
        }
      }
    }),
    { numRuns: 200 },
  )
})

describe('whether a user is visible', () => {
  test('[S6] watching is told by welcomes and views, not by older ones, and when the last session ends', () => {
    const [first, second] = [world.open('bob'), world.open('bob')]
    welcomed(first, 5)
    world.change('bob', 6, true)
    welcomed(second, 4)
    world.end(first)
    world.end(second)
    expect(world.visible).toEqual([
      ['bob', true],
      ['bob', false],
      ['bob', false],
    ])
  })
})
