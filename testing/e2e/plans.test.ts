// Many watch one target: with the limits set low a small audience is paced, queued and turned away
// by a real server, over real sockets.
import { expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { type Person, useScene } from './scene.ts'

const PUSHED = 45
const TURNED_AWAY = 5
const LIMITS = { paced_above: 20, queued_above: 30, polled_above: PUSHED }
const STAR = 'star'

const scene = useScene()

async function openFans(url: string, size: number): Promise<Person[]> {
  const fans: Person[] = []
  for (let n = 0; n < size; n++) fans.push(await scene.person(url, `fan-${n}`))
  return fans
}

async function watchStar(fan: Person): Promise<Presence> {
  fan.send({ type: 'watch', user_ids: [STAR] })
  const { states } = await fan.next('presence_state')
  return states[0]!
}

const says = (text: string) => (presence: Presence) => presence.custom_status?.text === text

test('[W7, W8, G1, G5] with every plan pushed watchers end at the newest version, and the others can poll', async () => {
  const { url } = await scene.server(LIMITS)
  const star = await scene.person(url, STAR)
  const fans = await openFans(url, PUSHED + TURNED_AWAY)
  const [pushed, others] = [fans.slice(0, PUSHED), fans.slice(PUSHED)]
  const speak = async (from: number, to: number) => {
    for (let n = from; n <= to; n++) {
      star.send({ type: 'set_custom_status', text: `${n}`, ref: n })
      await star.next('ok', ({ ref }) => ref === n)
    }
  }
  // With ten watchers, with thirty, and with more than are pushed to.
  let spoken = 0
  for (const [from, to] of [
    [0, 10],
    [10, 30],
    [30, PUSHED],
  ] as const) {
    for (const fan of pushed.slice(from, to)) expect(await watchStar(fan)).not.toHaveProperty('pushed')
    await speak(spoken + 1, spoken + 10)
    spoken += 10
    const newest = says(`${spoken}`)
    for (const fan of pushed.slice(0, to)) await fan.sees(STAR, newest)
  }
  for (const fan of pushed) {
    const versions = fan.sightings(STAR).map(({ presence }) => presence.version)
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
  }

  for (const fan of others) expect(await watchStar(fan)).toMatchObject({ pushed: false })
  await speak(spoken + 1, spoken + 5)
  for (const fan of pushed) await fan.sees(STAR, says(`${spoken + 5}`))
  for (const fan of others) {
    expect(fan.sightings(STAR)).toHaveLength(1)
    expect(await watchStar(fan)).toMatchObject({ pushed: false, custom_status: { text: `${spoken + 5}` } })
  }

  // A free place goes to the next who asks.
  pushed[0]!.send({ type: 'unwatch', user_ids: [STAR], ref: 'gone' })
  await pushed[0]!.next('ok', ({ ref }) => ref === 'gone')
  expect(await watchStar(others[0]!)).not.toHaveProperty('pushed')
  await speak(spoken + 6, spoken + 6)
  await others[0]!.sees(STAR, says(`${spoken + 6}`))
})

test('[W7, S5] a target who hides from a large audience is hidden for all of it', async () => {
  const { url } = await scene.server(LIMITS)
  const star = await scene.person(url, STAR)
  const fans = await openFans(url, 40)
  for (const fan of fans) await watchStar(fan)
  star.send({ type: 'set_custom_status', text: 'hello' })
  const headers = { authorization: `Bearer dev:${STAR}` }
  const body = JSON.stringify({ status_visibility: 'nobody' })
  const answer = await fetch(`${url}/api/v1/presence/settings`, { method: 'PUT', headers, body })
  expect(answer.status).toBe(200)
  for (const fan of fans) await fan.sees(STAR, ({ version }) => version === 0)
  star.send({ type: 'set_custom_status', text: 'unheard', ref: 1 })
  await star.next('ok')
  const watcher = fans[0]!
  watcher.send({ type: 'watch', user_ids: ['marker'] })
  await scene.mark(watcher, url)
  for (const fan of fans) expect(fan.sightings(STAR).at(-1)?.presence.version).toBe(0)
})
