// The sweeper while users are looked up in the archive. They stay due until that is done: the sweeper goes on
// with the others and does not ask for them again and again. And the sweeper while updates do not get through.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { emptyRecord } from '../core/record.ts'
import { type Sweeper, startSweeper } from './sweeper.ts'

const SWEEP_EVERY_MS = 250
const DUE_BATCH_MAX = 1_000
const ANNOUNCE_MS = 3_000

let world: Pipeline
let sweeper: Sweeper
/** Holds look-ups in the archive. */
let gate: Gate
let asked: { due: number; archive: number }
let endsAt: number
/** Updates get through to the owners of users. */
let isReachable: boolean

beforeEach(async () => {
  ;[gate, asked, isReachable] = [createGate(), { due: 0, archive: 0 }, true]
  world = await createPipeline({
    store: (memory) => ({
      due(shard, now, limit) {
        asked.due++
        return memory.due(shard, now, limit)
      },
    }),
    archive: (sqlite) => ({
      async read(userIds) {
        asked.archive++
        await gate.pass()
        return sqlite.read(userIds)
      },
    }),
  })
  endsAt = world.clock.now() + 10_000
})
afterEach(async () => {
  gate.open()
  await world.done(sweeper.stop())
})

const manyUsers = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`)

/** Users in the store whose custom status ends, as a query that keeps users hot would put them there. */
async function put(userIds: readonly string[], expiresAt: number): Promise<void> {
  const lunch = { text: 'lunch', emoji: null, expiresAt }
  const record = {
    ...emptyRecord(5),
    customStatus: { ...lunch, setAt: 1 },
    shown: { ...emptyRecord().shown, customStatus: lunch },
    settledAt: world.clock.now(),
  }
  const rest = { expectedRevision: 0, record, dueAt: expiresAt, retainUntil: null }
  await world.memory.commit(userIds.map((userId) => ({ userId, ...rest })))
}

/** These users are being looked up, and are in the store by now. */
async function putLookedUp(userIds: readonly string[]): Promise<void> {
  gate.close()
  for (const userId of userIds) world.tracker.report(userId, { type: 'contacts_changed', at: 1 })
  await world.clock.advance(1)
  await put(userIds, endsAt)
}

function startSweeping(cluster: { name: string; leaseMs: number } | null = null): void {
  const { store, dutySweep, clock, logger } = world
  const tracker = { ...world.tracker, isReachable: () => isReachable }
  sweeper = startSweeper({ store, tracker, dutySweep, clock, logger, cluster })
}

const shownText = async (userId: string) => (await world.stored(userId))?.shown.customStatus?.text ?? null

test('[D3] users that are looked up are asked for a few times a round, not without end', async () => {
  const users = manyUsers(DUE_BATCH_MAX)
  await putLookedUp(users)
  startSweeping()
  await world.clock.advance(endsAt - world.clock.now())
  const before = { ...asked }
  await world.clock.advance(4 * SWEEP_EVERY_MS)
  expect(asked.due - before.due).toBeLessThanOrEqual(3 * 4)
  expect(asked.archive).toBe(before.archive)
  expect(await shownText(users[0]!)).toBe('lunch')
  gate.open()
  await world.clock.advance(0)
  expect(await shownText(users[0]!)).toBeNull()
  expect(await world.memory.due(0, world.clock.now(), 10)).toEqual([])
})

test.each([1, DUE_BATCH_MAX, 3 * DUE_BATCH_MAX])(
  '[D3] a user changes on time while %d users that are due earlier are looked up',
  async (count) => {
    const users = manyUsers(count)
    await putLookedUp(users)
    await put(['ann'], endsAt + 1_000)
    startSweeping()
    await world.clock.advance(endsAt + 1_000 + SWEEP_EVERY_MS - world.clock.now())
    expect([await shownText('ann'), await shownText(users[0]!)]).toEqual([null, 'lunch'])
    gate.open()
    await world.clock.advance(0)
    expect(await shownText(users[0]!)).toBeNull()
  },
)

test('[C7] a deadline waits while updates get nowhere, and then until gateways had time to announce themselves', async () => {
  await put(['ann'], endsAt)
  startSweeping({ name: 'p-1', leaseMs: 3_000 })
  isReachable = false
  await world.clock.advance(endsAt + ANNOUNCE_MS - world.clock.now())
  isReachable = true
  await world.clock.advance(ANNOUNCE_MS - SWEEP_EVERY_MS)
  expect(await shownText('ann')).toBe('lunch')
  await world.clock.advance(3 * SWEEP_EVERY_MS)
  expect(await shownText('ann')).toBeNull()
})
