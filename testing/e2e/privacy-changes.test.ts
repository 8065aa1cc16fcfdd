// The audience of a target changes while viewers watch. A viewer who loses the right is told once that nothing
// is known and gets no more; one who gains it gets the present truth; no other viewer gets anything. The same
// by WebSocket, by stream and by reading.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { allSee } from '../clients/hearing.ts'
import {
  type Audience,
  type Chosen,
  choose,
  editContacts,
  hidden,
  isHidden,
  leave,
  openAudience,
  positions,
  say,
  seenAs,
  toldSince,
  truthOf,
  untilDelivered,
  type ViewLevel,
} from './audience/audience.ts'
import type { Ear } from './audience/stream.ts'
import { type Before, prepareWay, WAYS } from './audience/ways.ts'
import { ask, call, isAway, useScene } from './scene.ts'

const scene = useScene()
const DEVICE = 'phone'

const twice = <T>(value: T): [T, T] => [value, value]

async function asked(url: string, viewerId: string, userId: string): Promise<Presence> {
  const { body } = await call<Presence & { source: string }>(
    url,
    `dev:${viewerId}`,
    'GET',
    `/api/v1/presence/${userId}`,
  )
  const { source, ...presence } = body
  return presence
}

/** What these were told of bob because of `change`: returns once they were told something, and all of it. */
async function told(
  url: string,
  ears: readonly Ear[],
  change: () => Promise<unknown>,
): Promise<Presence[][]> {
  const since = positions(ears)
  await change()
  await allSee(ears, since, 'bob', () => true)
  await untilDelivered(url, ears)
  return toldSince(ears, since, 'bob')
}

/** Bob is here; alice watches him, and so does carol, whom he allows whatever else he chooses. */
async function enter(way: Before) {
  const { url } = await scene.server({ flush_ms: 5 })
  await prepareWay(url, way)
  const bob = await scene.person(url, 'bob', { deviceId: DEVICE, platform: 'mobile' })
  await say(url, 'bob', 'here')
  const alice = await openAudience(scene, url, 'alice', ['bob'])
  const carol = await openAudience(scene, url, 'carol', ['bob'])
  return { url, bob, alice, carol }
}

/** Bob does all kinds of things, which carol is told of. */
async function keepChanging(url: string, carol: Audience): Promise<void> {
  const since = carol.socket.heard.length
  await call(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', { status: 'busy' })
  await say(url, 'bob', 'unheard')
  await call(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', { status: 'invisible' })
  await call(url, 'dev:bob', 'PUT', '/api/v1/presence/availability', { status: 'online' })
  await leave(url, 'bob', DEVICE)
  const bob = await scene.person(url, 'bob', { deviceId: DEVICE, platform: 'desktop' })
  bob.be('idle')
  await carol.socket.sees('bob', isAway, { since })
}

describe('the right to see a target', () => {
  for (const way of WAYS) {
    test(`[S5][S6] is lost and gained: ${way.name}`, async () => {
      const { url, alice, carol } = await enter(way)
      const before = await truthOf(url, 'bob')
      expect(toldSince(alice.ears, [0, 0], 'bob')).toEqual(twice([before]))

      const sinceOfAlice = positions(alice.ears)
      const sinceOfCarol = positions(carol.ears)
      await way.lose(url)
      await allSee(alice.ears, sinceOfAlice, 'bob', isHidden)
      await untilDelivered(url, [...alice.ears, ...carol.ears])
      expect(toldSince(carol.ears, sinceOfCarol, 'bob')).toEqual([[], []])
      expect(await truthOf(url, 'bob')).toEqual(before)

      await keepChanging(url, carol)
      await untilDelivered(url, alice.ears)
      expect(toldSince(alice.ears, sinceOfAlice, 'bob')).toEqual(twice([hidden('bob')]))
      expect(await asked(url, 'alice', 'bob')).toEqual(hidden('bob'))

      const present = await truthOf(url, 'bob')
      expect(present).toMatchObject({
        status: 'away',
        custom_status: { text: 'unheard' },
        devices: ['desktop'],
      })
      await untilDelivered(url, carol.ears)
      const sinceGained = positions(carol.ears)
      expect(await told(url, alice.ears, () => way.gain(url))).toEqual(twice([present]))
      await untilDelivered(url, carol.ears)
      expect(toldSince(carol.ears, sinceGained, 'bob')).toEqual([[], []])
      expect(await asked(url, 'alice', 'bob')).toEqual(present)

      let next = present
      const again = await told(url, alice.ears, async () => {
        next = await say(url, 'bob', 'heard again')
      })
      expect(again).toEqual(twice([next]))
    })
  }

  test('[S5] a choice that changes nothing for a viewer is not heard by them', async () => {
    const { url, alice, carol } = await enter({ bobsContacts: ['alice'] })
    const ears = [...alice.ears, ...carol.ears]
    const since = positions(ears)
    await choose(url, 'bob', { status_visibility: 'contacts' })
    await choose(url, 'bob', { allow: ['alice', 'carol'] })
    await choose(url, 'bob', { deny: ['mallory'], away_after_ms: 60_000 })
    await choose(url, 'bob', { reciprocal: true, last_seen_visibility: 'everyone' })
    await editContacts(url, 'PUT', 'bob', [])
    await untilDelivered(url, ears)
    // Once more, for what had to be looked up first.
    await untilDelivered(url, ears)
    expect(toldSince(ears, since, 'bob')).toEqual([[], [], [], []])
  })

  test('[S5][S6] hidden and back before a flush leaves watchers with what they know', async () => {
    const { url } = await scene.server({ flush_ms: 200 })
    await scene.person(url, 'bob')
    const { ears } = await openAudience(scene, url, 'alice', ['bob'])
    const before = await truthOf(url, 'bob')
    await choose(url, 'bob', { status_visibility: 'nobody' })
    await choose(url, 'bob', { status_visibility: 'everyone' })
    await untilDelivered(url, ears)
    for (const ear of ears) expect(ear.sightings('bob').at(-1)!.presence).toEqual(before)
  })

  test('[S5][S6] where hidden users are null, losing the right is a change to null', async () => {
    const { url } = await scene.server({ flush_ms: 5, hidden_as: 'null' })
    const truth = await say(url, 'bob', 'here')
    const { ears } = await openAudience(scene, url, 'alice', ['bob'])
    const hides = () => choose(url, 'bob', { status_visibility: 'nobody' })
    expect(await told(url, ears, hides)).toEqual(twice([hidden('bob', null)]))
    const shows = () => choose(url, 'bob', { status_visibility: 'everyone' })
    expect(await told(url, ears, shows)).toEqual(twice([truth]))
  })

  test('[S5] a target who left while hidden is offline for viewers who may see them again', async () => {
    const { url, alice } = await enter({})
    await told(url, alice.ears, () => choose(url, 'bob', { status_visibility: 'nobody' }))
    const leftAt = Date.now()
    await leave(url, 'bob', DEVICE)
    const [bySocket, byStream] = await told(url, alice.ears, () =>
      choose(url, 'bob', { status_visibility: 'everyone' }),
    )
    expect(bySocket).toEqual([await truthOf(url, 'bob')])
    expect(byStream).toEqual(bySocket!)
    expect(bySocket![0]).toMatchObject({ status: 'offline', devices: [] })
    expect(bySocket![0]!.last_seen).toBeWithin(leftAt - 1_000, Date.now() + 1)
  })
})

describe('last seen', () => {
  interface Step {
    change(url: string): Promise<unknown>
    sees: ViewLevel
  }
  const chooses = (chosen: Chosen, sees: ViewLevel): Step => ({
    change: (url) => choose(url, 'bob', chosen),
    sees,
  })
  const STEPS: readonly Step[] = [
    chooses({ last_seen_visibility: 'nobody' }, 'status'),
    chooses({ last_seen_visibility: 'everyone' }, 'everything'),
    chooses({ last_seen_precision: 'approximate' }, 'approximate'),
    chooses({ last_seen_visibility: 'contacts' }, 'status'),
    { change: (url) => editContacts(url, 'POST', 'bob', ['alice']), sees: 'approximate' },
    chooses({ last_seen_precision: 'exact' }, 'everything'),
    { change: (url) => editContacts(url, 'DELETE', 'bob', ['alice']), sees: 'status' },
    chooses({ status_visibility: 'nobody' }, 'nothing'),
    chooses({ status_visibility: 'everyone', last_seen_visibility: 'everyone' }, 'everything'),
  ]

  for (const isHere of [true, false]) {
    test(`[S5] of a target who is ${isHere ? 'here' : 'gone'}: every change arrives, under the same version`, async () => {
      const { url, alice, carol } = await enter({})
      if (!isHere) await leave(url, 'bob', DEVICE)
      await untilDelivered(url, [...alice.ears, ...carol.ears])
      const truth = await truthOf(url, 'bob')
      expect(truth).toMatchObject({ status: isHere ? 'online' : 'offline', last_seen: expect.any(Number) })
      for (const { change, sees } of STEPS) {
        expect(await told(url, alice.ears, () => change(url))).toEqual(twice([seenAs(truth, sees)]))
        expect(await asked(url, 'alice', 'bob')).toEqual(seenAs(truth, sees))
      }
      expect(await truthOf(url, 'bob')).toEqual(truth)
    })
  }

  test('[S5] is not in pushes to viewers who may not see it', async () => {
    const { url, bob, alice } = await enter({ bob: { last_seen_visibility: 'nobody', allow: ['carol'] } })
    const pushed = await told(url, alice.ears, () => ask(bob, { type: 'set_availability', status: 'busy' }))
    expect(pushed).toEqual(twice([seenAs(await truthOf(url, 'bob'), 'status')]))
    expect(pushed[0]![0]).toMatchObject({ status: 'busy', last_seen: null })
  })
})
