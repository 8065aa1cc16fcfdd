// A restart of a lone server: users who were present are taken to be present, except those who became invisible.
import { beforeEach, describe, expect, test } from 'bun:test'
import { createPipeline, type Pipeline } from '../../../../../testing/worlds/presence-pipeline.ts'
import { freshVersion } from '../core/version.ts'
import { presumeHere, restore } from './restore.ts'

const LEASE_MS = 10_000

let world: Pipeline
beforeEach(async () => {
  world = await createPipeline()
  await world.done(world.archive.markAlive(world.clock.now()))
})

async function writeHere(userId: string): Promise<void> {
  const at = world.clock.now()
  const device = { deviceId: 'd', platform: 'web', activity: 'active' } as const
  const row = { userId, lastSeenAt: at, status: 'here', devices: [device], version: 5 } as const
  await world.done(world.archive.writeLastSeen([{ ...row, shownCustomStatus: null, updatedAt: at }]))
}

async function restoreAll(setBackMs = 0): Promise<number> {
  const { archive, store, policy, clock } = world
  return world.done(restore({ archive, store, policy, leaseMs: LEASE_MS, now: clock.now() - setBackMs }))
}

test('[P27, C7] where the store lost its memory a user is shown as the row says', async () => {
  await writeHere('bob')
  const [bob] = await world.done(world.archive.read(['bob']))
  const row = bob!.lastSeen!
  const { policy } = world
  // The row was written a while after bob was last known to be active, as with a delay before users are shown.
  const [aliveAt, now] = [row.updatedAt + 5_000, row.updatedAt + 60_000]
  const { shown } = presumeHere(bob!, { aliveAt, lostAt: now, now, policy, hasOthers: true })
  expect([shown.status, shown.devices, shown.lastSeen]).toEqual(['online', ['web'], row.lastSeenAt])
})

describe('a restart', () => {
  test('[C8] takes users who were present as present, until a lease has passed', async () => {
    await writeHere('bob')
    expect(await restoreAll()).toBe(1)
    const bob = await world.stored('bob')
    expect([bob?.shown.status, bob?.sessions[0]?.end.state]).toEqual(['online', 'lost'])
  })

  test('[W9] continues above all versions that were shown, also after the clock was set back', async () => {
    await writeHere('bob')
    await restoreAll(3_600_000)
    expect((await world.stored('bob'))!.version).toBeGreaterThan(freshVersion(world.clock.now()))
  })

  test('[W9] continues above them again after a second restart, while the clock is still behind', async () => {
    await writeHere('bob')
    await restoreAll(3_600_000)
    const { version } = (await world.stored('bob'))!
    world = await createPipeline({ earlier: world })
    await restoreAll(3_600_000)
    expect((await world.stored('bob'))!.version).toBeGreaterThan(version)
  })

  test('[P18] presumes no proof of life that is yet to come, when the clock was set back', async () => {
    await writeHere('bob')
    await restoreAll(3_600_000)
    const now = world.clock.now() - 3_600_000
    expect((await world.stored('bob'))!.sessions[0]!.end).toEqual({
      state: 'lost',
      since: now + LEASE_MS,
      provenAt: now,
    })
  })

  test('[S2] does not show a user whose choice to be invisible was written and whose row was not', async () => {
    await writeHere('bob')
    const invisible = { status: 'invisible', expiresAt: null, setAt: world.clock.now() } as const
    const settings = {
      availability: invisible,
      customStatus: null,
      awayAfter: null,
      privacy: null,
      history: null,
    }
    await world.done(world.archive.writeSettings([{ userId: 'bob', ...settings }]))
    await restoreAll()
    const bob = await world.stored('bob')
    expect(bob?.shown.status).toBe('offline')
    const [archived] = await world.done(world.archive.read(['bob']))
    expect(archived?.lastSeen).toMatchObject({ status: 'offline', version: bob!.version })
  })
})
