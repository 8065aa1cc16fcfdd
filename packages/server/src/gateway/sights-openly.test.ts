// Who counts as openly watched. Whoever does is not read again when the next one begins to watch, so it must
// not depend on those whom nobody may notice. With real own views, index and privacy.
import { beforeEach, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { OPEN_RULES, SOME_INSTANT } from '../../../../testing/records.ts'
import { NO_PRIVACY_CHOSEN } from '../presence/privacy.ts'
import type { Relations } from '../presence/relations.ts'
import { createDiscretions } from './discretions.ts'
import { createInterner } from './interner.ts'
import { createOutbox } from './outbox.ts'
import { createOwnViews } from './own-views.ts'
import { createSessionTable, type Socket } from './session-table.ts'
import { createSights } from './sights.ts'
import { createTargetTable } from './target-table.ts'

/** More than a few, and fewer than are looked at. */
const SPIES = 500

let world: ReturnType<typeof createWorld>
beforeEach(() => {
  world = createWorld()
})

function createWorld() {
  const clock = createFakeClock(SOME_INSTANT)
  const interner = createInterner()
  const table = createSessionTable(() => 'g-1')
  const targets = createTargetTable({ mask: (json) => json, now: clock.now })
  const discretions = createDiscretions()
  const ownViews = createOwnViews({ table, interner, outbox: () => outbox })
  const outbox = createOutbox({
    targets,
    clock,
    flushMs: 50,
    send: () => 'sent',
    ownFrame: ownViews.frameFor,
    onFrame: () => {},
  })
  const sights = createSights({
    interner,
    discretions,
    outbox,
    targets,
    // Nothing is decided here.
    relations: {} as Relations,
    rules: OPEN_RULES,
    clock,
    viewerOf: (row) => table.columns.user[row]!,
    isOpenlyHere: (user) => !ownViews.isInvisible(user),
    connectionsOf: () => [],
  })
  const bob = interner.acquire('bob')
  return {
    /** Somebody comes and watches bob; returns the way to end that. */
    watch(userId: string, how: 'openly' | 'invisible' | 'hidden'): () => void {
      const opening = {
        userId,
        deviceId: 'd',
        platform: 'web',
        activity: null,
        tokenExpiresAt: null,
      } as const
      const user = interner.acquire(userId)
      const row = table.add(user, opening, {} as Socket, clock.now())
      const privacy = { ...NO_PRIVACY_CHOSEN, statusVisibility: 'nobody' as const, setAt: clock.now() }
      if (how === 'hidden') discretions.learn(user, { privacy, contactsAt: 0 })
      ownViews.welcomed(row, 1, how === 'invisible')
      outbox.index.watch(row, bob)
      return () => outbox.index.unwatch(row, bob)
    },
    isOpenlyWatched: () => sights.isOpenlyWatched(bob),
  }
}

for (const how of ['invisible', 'hidden'] as const) {
  test(`[S6] those who are ${how} neither make somebody openly watched nor keep them from it`, () => {
    world.watch('first spy', how)
    expect(world.isOpenlyWatched()).toBe(false)
    const unwatch = world.watch('alice', 'openly')
    for (let spy = 0; spy < SPIES; spy++) world.watch(`spy ${spy}`, how)
    expect(world.isOpenlyWatched()).toBe(true)
    unwatch()
    expect(world.isOpenlyWatched()).toBe(false)
  })
}

test('[S6] what people watch of themselves does not count', () => {
  expect(world.isOpenlyWatched()).toBe(false)
  world.watch('bob', 'openly')
  expect(world.isOpenlyWatched()).toBe(false)
})
