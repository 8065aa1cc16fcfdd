// The own view of a user is the same on all devices: by whichever route, frame or server it is changed, every
// session gets the view that was answered.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { OwnPresence } from '@greendot/protocol'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { SERVER_KEY } from './audience/audience.ts'
import { ask, call, type Person, useScene } from './scene.ts'

const OWN_STATUS = '/api/v1/presence/status'
const NAMED_STATUS = '/api/v1/users/bob/status'
const NAMED_AVAILABILITY = '/api/v1/users/bob/availability'

/** Every device gets exactly this view. */
async function expectEverywhere(devices: readonly Person[], own: OwnPresence): Promise<void> {
  const text = JSON.stringify(own)
  for (const device of devices) await device.next('self', ({ presence }) => JSON.stringify(presence) === text)
}

/** One change after another, each by another door, with two of bob's devices on each server. */
async function changesBySeveralDoors(urls: readonly string[]): Promise<void> {
  const deviceIds = ['d1', 'd2', 'd3', 'd4']
  const devices: Person[] = []
  for (const [index, deviceId] of deviceIds.entries()) {
    devices.push(await scene.person(urls[index % urls.length]!, 'bob', { deviceId, platform: 'web' }))
  }
  // The first devices have heard of the last one.
  for (const device of devices.slice(0, -1)) {
    await device.next('self', ({ presence }) => presence.sessions.length === deviceIds.length)
  }
  const changes: ((url: string) => Promise<{ body: OwnPresence }>)[] = [
    (url) => call(url, 'dev:bob', 'PUT', OWN_STATUS, { text: 'by HTTP' }),
    (url) => call(url, SERVER_KEY, 'PUT', NAMED_STATUS, { text: 'by the backend' }),
    (url) => call(url, SERVER_KEY, 'PUT', NAMED_AVAILABILITY, { status: 'busy' }),
    (url) => call(url, SERVER_KEY, 'PUT', NAMED_AVAILABILITY, { status: 'invisible' }),
    (url) => call(url, 'dev:bob', 'PUT', OWN_STATUS, { text: 'unseen by others' }),
    (url) => call(url, SERVER_KEY, 'PUT', NAMED_AVAILABILITY, { status: 'online' }),
    (url) => call(url, 'dev:bob', 'DELETE', OWN_STATUS),
  ]
  for (const [index, change] of changes.entries()) {
    const { body } = await change(urls[index % urls.length]!)
    expect(body.sessions).toHaveLength(deviceIds.length)
    await expectEverywhere(devices, body)
  }

  await ask(devices[1]!, { type: 'set_custom_status', text: 'by frame' })
  const { presence } = await devices[0]!.next('self', (frame) => frame.presence.custom_status !== null)
  expect(presence.custom_status?.text).toBe('by frame')
  await expectEverywhere(devices.slice(1), presence)
}

const scene = useScene()

test('[P22] every change reaches every device of one server', async () => {
  const { url } = await scene.server()
  await changesBySeveralDoors([url])
})

describeWithService('on two servers with one Redis', await findRedis(), startRedis, (redis) => {
  async function pair(): Promise<string[]> {
    await redis().cli('FLUSHALL')
    const shared = { redis_url: redis().url }
    const first = await scene.server(shared)
    const database = { database_url: `sqlite://${join(first.folder, 'greendot.db')}` }
    const second = await scene.server({ ...shared, ...database })
    return [first.url, second.url]
  }

  test('[P22][C2] every change reaches every device', async () => {
    await changesBySeveralDoors(await pair())
  })
})
