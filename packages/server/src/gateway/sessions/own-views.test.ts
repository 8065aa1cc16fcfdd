// The own view on every open session of a person: each newer one once, none twice, none backwards,
// and nothing for clients that beat over HTTP.
import { describe, expect, test } from 'bun:test'
import type { Availability } from '@greendot/protocol'
import fc from 'fast-check'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { UNSTORED_REVISION } from '../../presence/pipeline/tracker.ts'
import { createOutbox } from '../delivery/outbox.ts'
import { createTargetTable } from '../delivery/target-table.ts'
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

/** The parts around own views as the gateway fits them together, with a record of what was sent. */
function createWorld(clock: FakeClock) {
  const interner = createInterner()
  const table = createSessionTable(
    () => 'g-1',
    () => 0,
  )
  const heard = new Map<string, number[]>()
  const openness: [string, boolean][] = []
  const ownViews = createOwnViews({
    table,
    interner,
    outbox: () => outbox,
    onOpenness: (user) => openness.push([interner.name(user), ownViews.isOpenlyHere(user)]),
  })
  const outbox = createOutbox({
    targets: createTargetTable({ mask: (json) => json, now: () => 0 }),
    clock,
    flushMs: FLUSH_MS,
    send(row, frame) {
      const { type, presence } = JSON.parse(frame)
      expect(type).toBe('self')
      heard.get(table.sessionId(row))!.push(presence.revision)
      return 'sent'
    },
    ownFrame: (row) => ownViews.frameFor(row),
    onFrame: () => expect.unreachable(),
  })
  return {
    heardBy: (row: number) => heard.get(table.sessionId(row))!,
    open(userId: string, kind: 'socket' | 'http' = 'socket'): number {
      // Own views only ask whether there is a socket.
      const socket = kind === 'socket' ? ({} as Socket) : null
      const row = table.add(interner.acquire(userId), { ...opening, userId }, socket, clock.now())
      heard.set(table.sessionId(row), [])
      return row
    },
    welcome: (row: number, revision: number, isInvisible = false) =>
      ownViews.welcomed(row, revision, isInvisible),
    change: (userId: string, revision: number, availability: Availability = 'auto') =>
      ownViews.receive({ kind: 'self', userId, revision, json: JSON.stringify({ revision, availability }) }),
    isOpenlyHere: (userId: string) => ownViews.isOpenlyHere(interner.find(userId)),
    openness,
    end(row: number): void {
      const user = table.columns.user[row]!
      outbox.forget(row)
      ownViews.ended(row)
      table.remove(row)
      interner.release(user)
    },
    isWaiting: (row: number) => ownViews.frameFor(row) !== null,
  }
}

describe('own views', () => {
  test('reach every open session of that person and of nobody else', async () => {
    const clock = createFakeClock(NOW)
    const world = createWorld(clock)
    const [first, second, other] = [world.open('bob'), world.open('bob'), world.open('alice')]
    for (const row of [first, second, other]) world.welcome(row, 1)
    world.change('bob', 2)
    world.change('nobody', 3)
    await clock.advance(FLUSH_MS)
    expect([first, second, other].map(world.heardBy)).toEqual([[2], [2], []])
  })

  test('only the newest of a flush is sent', async () => {
    const clock = createFakeClock(NOW)
    const world = createWorld(clock)
    const row = world.open('bob')
    world.welcome(row, 1)
    for (const revision of [2, 4, 3]) world.change('bob', revision)
    await clock.advance(FLUSH_MS)
    expect(world.heardBy(row)).toEqual([4])
  })

  test('before the welcome nothing is sent; after it, only what the welcome did not have', async () => {
    const clock = createFakeClock(NOW)
    const world = createWorld(clock)
    const [early, late] = [world.open('bob'), world.open('alice')]
    world.change('bob', 5)
    world.change('alice', 5)
    await clock.advance(FLUSH_MS)
    expect([early, late].map(world.heardBy)).toEqual([[], []])
    world.welcome(early, 5)
    world.welcome(late, 4)
    await clock.advance(FLUSH_MS)
    expect([early, late].map(world.heardBy)).toEqual([[], [5]])
  })

  test('a client that beats over HTTP is sent nothing and holds nothing up', async () => {
    const clock = createFakeClock(NOW)
    const world = createWorld(clock)
    const [beating, open] = [world.open('bob', 'http'), world.open('bob')]
    world.welcome(open, 1)
    world.change('bob', 2)
    await clock.advance(FLUSH_MS)
    expect([beating, open].map(world.heardBy)).toEqual([[], [2]])
  })

  test('somebody who gets the row and the number of a person who left hears nothing of theirs', async () => {
    const clock = createFakeClock(NOW)
    const world = createWorld(clock)
    const row = world.open('bob')
    world.welcome(row, 1)
    world.change('bob', 9)
    world.end(row)
    const next = world.open('alice')
    expect(next).toBe(row)
    world.welcome(next, 1)
    await clock.advance(FLUSH_MS)
    expect(world.heardBy(next)).toEqual([])
    expect(world.isWaiting(next)).toBe(false)
  })

  test('[W5] after any history every welcomed session has the newest view, each once and in order', async () => {
    const step = fc.record({
      does: fc.constantFrom('open', 'welcome', 'change', 'replay', 'end', 'wait'),
      userId: fc.constantFrom('bob', 'alice', '__proto__'),
      pick: fc.nat(20),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
        const clock = createFakeClock(NOW)
        const world = createWorld(clock)
        const newest = new Map<string, number>()
        const sessions: { row: number; userId: string; openedWith: number; isWelcome: boolean }[] = []
        let revision = 0
        const change = (userId: string) => {
          newest.set(userId, ++revision)
          world.change(userId, revision)
        }
        for (const { does, userId, pick } of steps) {
          const at = sessions.length === 0 ? 0 : pick % sessions.length
          const session = sessions[at]
          if (does === 'open') {
            // The opening is a change for the sessions that are there, and what the welcome will carry.
            const row = world.open(userId)
            change(userId)
            sessions.push({ row, userId, openedWith: revision, isWelcome: false })
          } else if (does === 'change') change(userId)
          else if (does === 'replay') world.change(userId, Math.min(pick, newest.get(userId) ?? 0))
          else if (does === 'wait') await clock.advance(pick * 5)
          else if (session === undefined) continue
          else if (does === 'end') {
            world.end(session.row)
            sessions.splice(at, 1)
          } else if (!session.isWelcome) {
            session.isWelcome = true
            world.welcome(session.row, session.openedWith)
          }
        }
        await clock.advance(2 * FLUSH_MS)
        for (const { row, userId, openedWith, isWelcome } of sessions) {
          const heard = world.heardBy(row)
          if (!isWelcome) expect(heard).toEqual([])
          else {
            expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b))
            expect(heard.every((one) => one > openedWith)).toBe(true)
            expect(heard.at(-1) ?? openedWith).toBe(newest.get(userId)!)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('whether somebody is here openly', () => {
  test('[S2] is what their welcome or their newest view says, until their last session ends', () => {
    const world = createWorld(createFakeClock(NOW))
    const rows = [world.open('bob'), world.open('bob')]
    world.welcome(rows[0]!, 1, true)
    expect(world.isOpenlyHere('bob')).toBe(false)
    world.change('bob', 2)
    expect(world.isOpenlyHere('bob')).toBe(true)
    world.welcome(rows[1]!, 3, true)
    world.end(rows[0]!)
    expect(world.isOpenlyHere('bob')).toBe(false)
    world.end(rows[1]!)
    world.welcome(world.open('bob'), 4)
    expect(world.isOpenlyHere('bob')).toBe(true)
  })

  test('[S2, S6] begins with the welcome, and every change of it is said, and nothing else', () => {
    const world = createWorld(createFakeClock(NOW))
    const rows = [world.open('bob'), world.open('bob')]
    expect(world.isOpenlyHere('bob')).toBe(false)
    world.welcome(rows[0]!, 1)
    world.welcome(rows[1]!, 2)
    world.change('bob', 3)
    expect(world.openness.splice(0)).toEqual([['bob', true]])
    world.change('bob', 4, 'invisible')
    world.change('bob', 5, 'invisible')
    expect(world.openness.splice(0)).toEqual([['bob', false]])
    world.change('bob', 6)
    world.end(rows[0]!)
    expect(world.openness.splice(0)).toEqual([['bob', true]])
    // Whoever has not been welcomed may be anything.
    world.open('bob')
    world.end(rows[1]!)
    expect(world.openness).toEqual([['bob', false]])
  })

  test('[S2] is not undone by a view that was overtaken, told already or not', async () => {
    const clock = createFakeClock(NOW)
    const world = createWorld(clock)
    const row = world.open('bob')
    world.welcome(row, 1)
    world.change('bob', 6, 'invisible')
    world.change('bob', 4)
    expect(world.isOpenlyHere('bob')).toBe(false)
    await clock.advance(FLUSH_MS)
    expect(world.heardBy(row)).toEqual([6])
    world.change('bob', 5)
    expect(world.isOpenlyHere('bob')).toBe(false)
    await clock.advance(FLUSH_MS)
    expect(world.heardBy(row)).toEqual([6])
    world.change('bob', 7)
    expect(world.isOpenlyHere('bob')).toBe(true)
  })

  test('[S2, C7] is not undone by a welcome that was imagined while the store was away', () => {
    const world = createWorld(createFakeClock(NOW))
    const [first, second] = [world.open('bob'), world.open('bob')]
    world.welcome(first, 8, true)
    world.welcome(second, UNSTORED_REVISION)
    expect(world.isOpenlyHere('bob')).toBe(false)
  })

  test('[S2] is not undone by a welcome that is older than a view that waits', () => {
    const world = createWorld(createFakeClock(NOW))
    const row = world.open('bob')
    world.change('bob', 6, 'invisible')
    world.welcome(row, 5)
    expect(world.isOpenlyHere('bob')).toBe(false)
  })
})
