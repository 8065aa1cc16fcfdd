// Many devices, one status. In whatever order devices come, idle and go, watchers see the
// merge of what is left: any active makes online, all idle makes away, none makes offline.
import { describe, expect, test } from 'bun:test'
import type { OwnPresence, Presence } from '@greendot/protocol'
import type { TestClient } from '../clients/client.ts'
import { ask, call, isAway, isOffline, isOnline, read, useScene, watch } from './scene.ts'

const OFFLINE_DELAY_MS = 300

const scene = useScene()

/** The status and the platforms, which is what a watcher draws. */
const drawn = ({ status, devices }: Presence) => `${status} ${devices.join(',')}`.trim()

function shows(watcher: TestClient, picture: string, since: number): Promise<{ presence: Presence }> {
  return watcher.sees('bob', (presence) => drawn(presence) === picture, { since })
}

async function two(url: string) {
  const a = await scene.person(url, 'alice')
  await watch(a, ['bob', 'marker'])
  const web = await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'web' })
  const mobile = await scene.person(url, 'bob', { deviceId: 'phone', platform: 'mobile' })
  await a.sees('bob', ({ devices }) => devices.length === 2)
  return { a, web, mobile }
}

describe('two devices', () => {
  type Move = 'web idles' | 'mobile idles' | 'web leaves' | 'mobile leaves'
  const orders: Move[][] = [
    ['web idles', 'mobile idles', 'mobile leaves', 'web leaves'],
    ['web idles', 'web leaves', 'mobile idles', 'mobile leaves'],
    ['mobile leaves', 'web idles', 'web leaves'],
  ]

  /** What must be drawn after each move, worked out from the rules and not by the server. */
  function expected(moves: readonly Move[]): string {
    const isHere = (name: string) => !moves.includes(`${name} leaves` as Move)
    const isIdle = (name: string) => moves.includes(`${name} idles` as Move)
    const here = ['web', 'mobile'].filter(isHere)
    if (here.length === 0) return 'offline'
    // Active devices first. Mobile came last and no device was active since, so among equals it leads.
    const list = ['mobile', 'web'].filter(isHere).sort((a, b) => Number(isIdle(a)) - Number(isIdle(b)))
    return `${here.every(isIdle) ? 'away' : 'online'} ${list.join(',')}`
  }

  test('[D7] idle on one, active on the other, gone in any order: always the merge', async () => {
    const { url } = await scene.server()
    for (const moves of orders) {
      const { a, web, mobile } = await two(url)
      const of = { web, mobile }
      for (const [index, move] of moves.entries()) {
        const since = a.heard.length
        const picture = expected(moves.slice(0, index + 1))
        const isSame = picture === expected(moves.slice(0, index))
        const [name, what] = move.split(' ') as ['web' | 'mobile', string]
        if (what === 'idles') of[name].be('idle')
        else of[name].send({ type: 'leave' })
        if (isSame) await ask(of[name], { type: 'unwatch', user_ids: [] })
        else await shows(a, picture, since)
        expect(drawn(await read(url, 'bob'))).toBe(picture)
      }
      a.close()
    }
  })

  test('[D7] a closed socket keeps its device for the delay, the other one stays', async () => {
    const { url } = await scene.server({ offline_delay_ms: OFFLINE_DELAY_MS })
    const { a, web, mobile } = await two(url)
    web.be('idle')
    await a.sees('bob', ({ devices }) => devices[0] === 'mobile')
    const since = a.heard.length
    const closedAt = Date.now()
    mobile.close()
    const { presence, at } = await a.sees('bob', isAway, { since })
    expect(presence.devices).toEqual(['web'])
    expect(at).toBeGreaterThanOrEqual(closedAt + OFFLINE_DELAY_MS)
    expect(a.sightings('bob', since)).toHaveLength(1)
  })

  test('[D7] both changing at once never corrupt the result', async () => {
    const { url } = await scene.server({ frames_per_second: 10_000 })
    const { a, web, mobile } = await two(url)
    for (let round = 0; round < 200; round++) {
      web.be(round % 2 === 0 ? 'idle' : 'active')
      mobile.be(round % 3 === 0 ? 'active' : 'idle')
    }
    web.be('idle')
    mobile.be('idle')
    const since = a.heard.length
    await Promise.all([web, mobile].map((device) => ask(device, { type: 'unwatch', user_ids: [] })))
    await scene.mark(a, url)
    const last = a.sightings('bob').at(-1)!.presence
    expect(last.status).toBe('away')
    expect(last.devices.toSorted()).toEqual(['mobile', 'web'])
    expect(await read(url, 'bob')).toMatchObject({ status: 'away', version: last.version })

    web.send({ type: 'leave' })
    mobile.send({ type: 'leave' })
    await a.sees('bob', isOffline, { since })
    const versions = a.sightings('bob').map(({ presence }) => presence.version)
    expect(versions.slice(1)).toEqual(versions.slice(1).toSorted((x, y) => x - y))
    expect(new Set(versions).size).toBe(versions.length)
  })
})

describe('two tabs of one device', () => {
  const tab = { deviceId: 'laptop', platform: 'web' }
  const own = (url: string) =>
    call<OwnPresence>(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', { status: 'online' })

  test('[D7] are one platform and two sessions; closing one is no change', async () => {
    const { url } = await scene.server({ offline_delay_ms: OFFLINE_DELAY_MS })
    const a = await scene.person(url, 'alice')
    await watch(a, ['bob', 'marker'])
    const first = await scene.person(url, 'bob', tab)
    const second = await scene.person(url, 'bob', tab)
    await a.sees('bob', isOnline)
    expect((await own(url)).body.sessions.map(({ device_id }) => device_id)).toEqual(['laptop', 'laptop'])

    const since = a.heard.length
    const marker = await scene.person(url, 'marker')
    first.close()
    await first.closed
    marker.close()
    // The marker closed later: whatever the closed tab changes, it changes before this.
    await a.sees('marker', isOnline)
    await a.sees('marker', isOffline, { since })
    expect(a.sightings('bob', since)).toEqual([])
    expect((await own(url)).body.sessions).toHaveLength(1)

    second.send({ type: 'leave' })
    await a.sees('bob', isOffline, { since })
  })

  test('[D7] the goodbye of one tab leaves the other; a goodbye over HTTP takes the device', async () => {
    const { url } = await scene.server()
    const a = await scene.person(url, 'alice')
    await watch(a, ['bob', 'marker'])
    const [first, second, third] = [
      await scene.person(url, 'bob', tab),
      await scene.person(url, 'bob', tab),
      await scene.person(url, 'bob', tab),
    ]
    await a.sees('bob', isOnline)
    const since = a.heard.length
    first.send({ type: 'leave' })
    await first.closed
    await scene.mark(a, url)
    expect(a.sightings('bob', since)).toEqual([])
    await call(url, 'dev:bob', 'POST', '/api/v1/leave', { device_id: 'laptop' })
    await a.sees('bob', isOffline, { since })
    expect((await second.closed).code).toBe(1000)
    expect((await third.closed).code).toBe(1000)
  })
})
