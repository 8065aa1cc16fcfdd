// Messages from the bus, each to the part it concerns.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { CLOSE } from '@greendot/protocol'
import { readerOf } from '../../../../testing/e2e/stream-format.ts'
import { createGatewayWorld, FLUSH_MS, type GatewayWorld } from '../../../../testing/worlds/gateway-world.ts'
import { texts } from '../../../../testing/worlds/watching-world.ts'

const ALICE = 0

let world: GatewayWorld
beforeEach(async () => {
  world = await createGatewayWorld({ viewers: ['alice'] })
})
afterEach(() => world.close())

test('[W4, S3] a change reaches watchers, and the own view the sessions of the user', async () => {
  const bob = await world.connect('bob')
  await world.watch(ALICE, ['bob'])
  await world.setText('bob', 'hello')
  expect(texts(await world.hears(ALICE))).toEqual(['hello'])
  expect(bob.frames.at(-1)).toMatchObject({ type: 'self', presence: { custom_status: { text: 'hello' } } })
})

test('[D4] an away time that the user chooses holds for the sessions that are open', async () => {
  const { row } = await world.connect('bob')
  const other = await world.connect('carol')
  // The row of the arrival is written after a moment, and the setting waits for it.
  await world.clock.advance(FLUSH_MS)
  const at = world.nextStamp()
  await world.done(world.tracker.apply('bob', { type: 'set_away_after', at, awayAfterMs: 90_000 }))
  const { awayAfterMs } = world.table.columns
  expect([awayAfterMs[row], awayAfterMs[other.row]]).toEqual([90_000, world.policy.awayAfterMs])
})

test('[X6] an erasure ends sessions and streams of the user, and shows watchers an unknown user', async () => {
  const [bob, carol] = [await world.connect('bob'), await world.connect('carol')]
  const asked = {
    userId: 'bob',
    tokenExpiresAt: null,
    tokenIssuedAt: null,
    userIds: ['carol'],
    lastEventId: null,
  }
  const opened = await world.done(world.streams.open(asked))
  if (!opened.ok) throw new Error(opened.failure.code)
  const stream = readerOf(opened.body, true)
  await world.setText('bob', 'hello')
  await world.watch(ALICE, ['bob'])
  world.inbox([{ kind: 'erased', userId: 'bob', version: Number.MAX_SAFE_INTEGER, at: world.clock.now() }])
  expect(await world.hears(ALICE)).toMatchObject([{ user_id: 'bob', version: 0, custom_status: null }])
  expect([bob.closedWith, carol.closedWith]).toEqual([[CLOSE.badToken], []])
  expect(bob.frames.at(-1)).toMatchObject({ type: 'error', code: 'unauthorized' })
  expect([stream.hasEnded(), world.table.columns.live]).toEqual([true, 1])
})
