// Who counts as openly watching. Whoever is openly watched is not read again when the next one begins to watch,
// and how many they are decides how changes are spread, so neither may depend on those whom nobody may notice.
// With real own views, index and privacy.
import { beforeEach, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/fake-clock.ts'
import { OPEN_RULES, SOME_INSTANT } from '../../../../../testing/records.ts'
import { NO_PRIVACY_CHOSEN } from '../../presence/core/privacy.ts'
import { createOutbox } from '../delivery/outbox.ts'
import { createTargetTable } from '../delivery/target-table.ts'
import { openCrowd } from '../delivery/watch-index.ts'
import { createInterner } from '../interner.ts'
import { createOwnViews } from '../sessions/own-views.ts'
import { createSessionTable, type Socket } from '../sessions/session-table.ts'
import { createDiscretions } from './visibility-inputs.ts'
import { createOpenness } from './watcher-exposure.ts'

const SPIES = 1_500

type Manner = 'openly' | 'invisible' | 'hidden'

let world: ReturnType<typeof createWorld>
beforeEach(() => {
  world = createWorld()
})

function createWorld() {
  const clock = createFakeClock(SOME_INSTANT)
  const interner = createInterner()
  const table = createSessionTable(
    () => 'g-1',
    () => 0,
  )
  const discretions = createDiscretions()
  const ownViews = createOwnViews({
    table,
    interner,
    outbox: () => outbox,
    onOpenness: (user) => openness.review(user),
  })
  const outbox = createOutbox({
    targets: createTargetTable({ mask: (json) => json, now: clock.now }),
    clock,
    flushMs: 50,
    send: () => 'sent',
    ownFrame: ownViews.frameFor,
    onFrame: () => {},
  })
  const streams: number[] = []
  const openness = createOpenness({
    outbox,
    discretions,
    rules: OPEN_RULES,
    isOpenlyHere: ownViews.isOpenlyHere,
    connectionsOf: (user) => [
      ...[...table.rows()].filter((row) => table.columns.user[row] === user),
      ...streams,
    ],
  })
  const { index } = outbox
  const bob = interner.acquire('bob')
  const opening = { deviceId: 'd', platform: 'web', activity: null, tokenExpiresAt: null } as const
  let revision = 0

  function come(userId: string): number {
    const user = interner.acquire(userId)
    return table.add(user, { ...opening, userId }, {} as Socket, clock.now())
  }

  function choose(userId: string, manner: Manner): void {
    const user = interner.find(userId)
    const statusVisibility = manner === 'hidden' ? ('nobody' as const) : ('everyone' as const)
    const privacy = { ...NO_PRIVACY_CHOSEN, statusVisibility, setAt: clock.now() + ++revision }
    if (discretions.learn(user, { privacy, contactsAt: 0 })) openness.review(user)
    const availability = manner === 'invisible' ? 'invisible' : 'auto'
    ownViews.receive({ kind: 'self', userId, revision, json: JSON.stringify({ availability }) })
  }

  const watch = (row: number, userId: string) =>
    index.watch(row, bob, !openness.isOpen(interner.find(userId)))

  return {
    choose,
    /** Somebody comes and watches bob; returns the way to end that. */
    watch(userId: string, manner: Manner): () => void {
      const row = come(userId)
      ownViews.welcomed(row, ++revision, manner === 'invisible')
      if (manner === 'hidden') choose(userId, manner)
      watch(row, userId)
      return () => index.unwatch(row, bob)
    },
    /** Somebody watches bob by a stream, which is no session. */
    stream(userId: string): void {
      interner.acquire(userId)
      const row = table.lend()
      streams.push(row)
      watch(row, userId)
    },
    /** Somebody has a session that watches nobody. */
    session(userId: string): { welcome(): void; end(): void } {
      const row = come(userId)
      return {
        welcome: () => ownViews.welcomed(row, ++revision, false),
        end() {
          ownViews.ended(row)
          table.remove(row)
        },
      }
    },
    isOpenlyWatched: () => openness.isOpenlyWatched(bob),
    openWatchers: () => index.watchers(openCrowd(bob)),
  }
}

for (const manner of ['invisible', 'hidden'] as const) {
  test(`[S6] those who are ${manner} neither make somebody openly watched nor keep them from it`, () => {
    world.watch('first spy', manner)
    expect(world.isOpenlyWatched()).toBe(false)
    const unwatch = world.watch('alice', 'openly')
    for (let spy = 0; spy < SPIES; spy++) world.watch(`spy ${spy}`, manner)
    expect(world.isOpenlyWatched()).toBe(true)
    expect(world.openWatchers()).toBe(1)
    unwatch()
    expect(world.isOpenlyWatched()).toBe(false)
  })

  test(`[S6] whoever becomes ${manner} while they watch counts no more, until they show themselves`, () => {
    world.watch('alice', 'openly')
    world.choose('alice', manner)
    expect(world.openWatchers()).toBe(0)
    world.choose('alice', 'openly')
    expect(world.openWatchers()).toBe(1)
  })
}

test('[S6] whoever watches by a stream counts while they have a session that was welcomed', () => {
  world.stream('alice')
  expect(world.openWatchers()).toBe(0)
  const session = world.session('alice')
  expect(world.openWatchers()).toBe(0)
  session.welcome()
  expect(world.openWatchers()).toBe(1)
  session.end()
  expect(world.openWatchers()).toBe(0)
})

test('[S6] what people watch of themselves does not count', () => {
  expect(world.isOpenlyWatched()).toBe(false)
  world.watch('bob', 'openly')
  world.watch('bob', 'openly')
  expect(world.isOpenlyWatched()).toBe(false)
  world.watch('alice', 'openly')
  expect(world.isOpenlyWatched()).toBe(true)
})
