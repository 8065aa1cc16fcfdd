// Rows that say that a user is here, and the store does not: the sweeper corrects them, once gateways had time to announce
// their sessions again.
import { expect, test } from 'bun:test'
import { createPipeline } from '../../../../../testing/worlds/presence-pipeline.ts'
import { connected, left } from '../../../../../testing/worlds/presence-user.ts'
import { SWEEPER_PREFIX } from '../cluster/shard-owner.ts'
import { startSweeper } from './sweeper.ts'

const LEASE_MS = 1_500

test('[S4, C7] users who came in the second that a store lost are offline in their rows after a restart', async () => {
  const world = await createPipeline({ isStoreVolatile: false })
  const { clock, store, tracker, dutySweep, logger, archive } = world
  const rowOf = async (userId: string) => (await world.done(archive.read([userId])))[0]!.lastSeen!
  for (const userId of ['ann', 'cleo'])
    await world.done(tracker.apply(userId, connected('web#1', clock.now())))
  await clock.advance(100)
  const here = await rowOf('ann')
  expect(here.status).toBe('here')
  await world.done(tracker.apply('ann', left('web#1', clock.now())))
  await clock.advance(100)
  const { version } = await rowOf('ann')
  // The store does not know that ann came back, and nothing of bob.
  const rows = [
    { ...here, version: version + 3 },
    { ...here, userId: 'bob' },
  ]
  await world.done(archive.writeLastSeen(rows))

  await store.openLease('g1', clock.now() + LEASE_MS)
  const renewing = clock.every(LEASE_MS / 10, () => void store.renewLease('g1', clock.now() + LEASE_MS))
  const cluster = { name: `${SWEEPER_PREFIX}1`, leaseMs: LEASE_MS }
  const sweeper = startSweeper({ store, tracker, dutySweep, clock, logger, cluster })
  await clock.advance(20_000)
  expect(await rowOf('ann')).toMatchObject({ status: 'offline', version: version + 4 })
  expect((await rowOf('bob')).status).toBe('offline')
  expect((await rowOf('cleo')).status).toBe('here')
  renewing.stop()
  await world.done(sweeper.stop())
})
