// Two servers with one Redis and one PostgreSQL: what is chosen or edited through one takes effect on the
// connections of the other, exactly as on one server, and on its queries within the time they may be
// answered from memory.
import { expect, test } from 'bun:test'
import type { Presence, Settings } from '@greendot/protocol'
import { allSee } from '../clients/hearing.ts'
import type { SettingsInput } from '../clients/server.ts'
import { until, WAIT_MS } from '../services/within.ts'
import {
  choose,
  editContacts,
  hidden,
  isHidden,
  openAudience,
  positions,
  say,
  says,
  toldSince,
  untilDelivered,
} from './audience/audience.ts'
import { editWhileAsking } from './audience/following.ts'
import { hideAndWhisper } from './audience/races.ts'
import { prepareWay, WAYS } from './audience/ways.ts'
import { ask, call, isAway, isOnline, watch } from './scene.ts'
import { describeWithPairs } from './shared-services.ts'

const SETTINGS = '/api/v1/presence/settings'
const READ_CACHE_MS = 150

describeWithPairs('two servers', (scene, start) => {
  const pair = (settings: SettingsInput = {}) =>
    start({ flush_ms: 5, read_cache_ms: READ_CACHE_MS, ...settings })

  // One of each kind: a choice of the target, an edit of a contact list, a choice of the viewer.
  const KINDS = ['bob denies alice', 'the backend takes alice off', 'bob is reciprocal, and alice hides']
  for (const way of WAYS.filter(({ name }) => KINDS.some((kind) => name.startsWith(kind)))) {
    test(`[S5][C2] the right to see a target is lost and gained across servers: ${way.name}`, async () => {
      const { here, there } = await pair()
      await prepareWay(here, way)
      await scene.person(here, 'bob')
      const before = await say(here, 'bob', 'here')
      const alice = await openAudience(scene, there, 'alice', ['bob'])
      const carol = await openAudience(scene, there, 'carol', ['bob'])
      const ears = [...alice.ears, ...carol.ears]
      expect(toldSince(ears, [0, 0, 0, 0], 'bob')).toEqual(ears.map(() => [before]))

      const since = positions(ears)
      await way.lose(here)
      await allSee(alice.ears, since, 'bob', isHidden)
      const unheard = await say(here, 'bob', 'unheard')
      await untilDelivered(here, ears)
      const nothing = [hidden('bob')]
      expect(toldSince(ears, since, 'bob')).toEqual([nothing, nothing, [unheard], [unheard]])

      await way.gain(here)
      await allSee(alice.ears, since, 'bob', says('unheard'))
      await untilDelivered(here, ears)
      const both = [hidden('bob'), unheard]
      expect(toldSince(ears, since, 'bob')).toEqual([both, both, [unheard], [unheard]])
    })
  }

  test('[S5][C2] queries on the other server follow once what they remember has run out', async () => {
    const { here, there } = await pair()
    await scene.person(here, 'bob')
    const visible = await say(here, 'bob', 'hello')
    const readThere = async () =>
      (await call<Presence>(there, 'dev:alice', 'GET', '/api/v1/presence/bob')).body
    const soon = async (what: string, isThere: (presence: Presence) => boolean) =>
      until(WAIT_MS, what, async () => isThere(await readThere()))
    const isVisible = ({ version }: Presence) => version === visible.version
    // Bob has no watcher there, so only time ends what is remembered of him.
    expect(isVisible(await readThere())).toBe(true)
    await choose(here, 'bob', { status_visibility: 'nobody' })
    await soon('hiding', isHidden)
    await choose(here, 'bob', { status_visibility: 'contacts' })
    await editContacts(here, 'PUT', 'bob', ['alice'])
    await soon('being a contact', isVisible)
    await editContacts(here, 'DELETE', 'bob', ['alice'])
    await soon('being none', isHidden)
    await choose(here, 'bob', { status_visibility: 'everyone', reciprocal: true })
    await soon('showing', isVisible)
    await choose(here, 'alice', { status_visibility: 'nobody' })
    await soon('reciprocity', isHidden)
  })

  test('[S5][S6][C2] what is said in the moment of hiding is seen on neither server', async () => {
    const { here, there } = await pair({ flush_ms: 1 })
    await say(here, 'bob', 'open')
    const first = await openAudience(scene, here, 'alice', ['bob'])
    const second = await openAudience(scene, there, 'alice', ['bob'])
    await hideAndWhisper(scene, here, [...first.ears, ...second.ears], 30)
  })

  test('[S5][S6][C2] once a choice is answered, nothing said on the other server is seen', async () => {
    const { here, there } = await pair({ flush_ms: 1 })
    await scene.person(here, 'bob')
    await say(here, 'bob', 'open')
    const first = await openAudience(scene, here, 'alice', ['bob'])
    const second = await openAudience(scene, there, 'alice', ['bob'])
    const ears = [...first.ears, ...second.ears]
    for (let round = 0; round < 15; round++) {
      const since = positions(ears)
      await choose(here, 'bob', { status_visibility: round % 2 === 0 ? 'nobody' : 'contacts' })
      await say(there, 'bob', 'secret')
      await say(there, 'bob', `open ${round}`)
      await choose(there, 'bob', { status_visibility: 'everyone' })
      await allSee(ears, since, 'bob', says(`open ${round}`))
      const texts = toldSince(ears, since, 'bob').map((told) =>
        told.map((one) => one.custom_status?.text ?? null),
      )
      // A watcher who was not told of the hiding in between was told nothing wrong either.
      for (const told of texts) expect(told.filter((text) => text !== null)).toEqual([`open ${round}`])
    }
  })

  test('[S5][W2][C2] an edit takes effect though the other server edits the same list at that moment', async () => {
    const { here, there } = await pair({ flush_ms: 1 })
    await choose(here, 'bob', { status_visibility: 'contacts' })
    await editContacts(here, 'PUT', 'bob', ['alice'])
    await say(here, 'bob', 'for contacts')
    const alice = await scene.person(there, 'alice')
    await watch(alice, ['bob'])
    for (let round = 0; round < 80; round++) {
      const since = alice.heard.length
      const other = [`other-${round}`]
      await Promise.all([
        editContacts(here, 'POST', 'bob', other),
        editContacts(there, 'DELETE', 'bob', ['alice']),
      ])
      await alice.sees('bob', isHidden, { since })
      await Promise.all([
        editContacts(here, 'DELETE', 'bob', other),
        editContacts(there, 'POST', 'bob', ['alice']),
      ])
      await alice.sees('bob', says('for contacts'), { since })
    }
  })

  test('[S5][W2][C2] an edit takes effect though the other server has just made very many', async () => {
    const { here, there } = await pair()
    await choose(here, 'bob', { status_visibility: 'contacts' })
    await editContacts(here, 'PUT', 'bob', ['alice'])
    await say(here, 'bob', 'for contacts')
    const alice = await scene.person(there, 'alice')
    await watch(alice, ['bob'])
    // More than one a millisecond, so that no clock keeps up with them.
    const edits = Array.from({ length: 2_000 }, () => editContacts(here, 'POST', 'dave', []))
    await Promise.all(edits)
    await editContacts(here, 'POST', 'bob', ['dave'])
    await editContacts(there, 'DELETE', 'bob', ['alice'])
    await alice.sees('bob', isHidden)
  })

  test('[W1][W2][C2] a connection follows its contact list, wherever it is edited', async () => {
    const { here, there } = await pair()
    await editContacts(here, 'PUT', 'alice', ['bob'])
    const alice = await scene.person(there, 'alice')
    await ask(alice, { type: 'watch_contacts' })
    expect(alice.sightings('bob')).toHaveLength(1)
    const carol = await say(here, 'carol', 'hello')
    await editContacts(here, 'POST', 'alice', ['carol'])
    expect((await alice.sees('carol', () => true)).presence).toEqual(carol)
    const since = alice.heard.length
    await editContacts(here, 'PUT', 'alice', ['carol'])
    expect((await alice.sees('bob', isHidden, { since })).presence).toEqual(hidden('bob'))
    await scene.person(here, 'carol')
    await alice.sees('carol', isOnline, { since })
  })

  test('[W1][W2][C2] there is no gap between asking for the list and following it', async () => {
    const { here, there } = await pair()
    await editWhileAsking(scene, here, there, 40)
  })

  test('[S5][C2] merges through both servers at the same moment all hold', async () => {
    const { here, there } = await pair()
    const urls = [here, there]
    for (let round = 0; round < 10; round++) {
      const choices = {
        allow: [`friend-${round}`],
        deny: [`foe-${round}`],
        reciprocal: round % 2 === 0,
        status_visibility: round % 2 === 0 ? 'nobody' : 'contacts',
        away_after_ms: 10_000 + round,
      } as const
      await Promise.all(
        Object.entries(choices).map(([name, value], index) =>
          choose(urls[index % 2]!, 'bob', { [name]: value }),
        ),
      )
      for (const url of urls) {
        const { body } = await call<Settings>(url, 'dev:bob', 'GET', SETTINGS)
        expect(body).toMatchObject(choices)
      }
    }
  })

  test('[D4][C2] away_after_ms takes effect on sessions on both servers', async () => {
    const { here, there } = await pair()
    const alice = await scene.person(here, 'alice')
    await watch(alice, ['bob'])
    const laptop = await scene.person(here, 'bob', { deviceId: 'laptop', platform: 'web' })
    await call(there, 'dev:bob', 'POST', '/api/v1/heartbeat', {
      device_id: 'phone',
      platform: 'mobile',
      activity: 'active',
    })
    await alice.sees('bob', ({ devices }) => devices.length === 2)
    const since = alice.heard.length
    await choose(there, 'bob', { away_after_ms: 200 })
    await alice.sees('bob', isAway, { since })
    const { presence } = await laptop.next('self', (frame) => frame.presence.status === 'away')
    expect(presence.sessions.map(({ activity }) => activity)).toEqual(['idle', 'idle'])
    const again = await scene.person(there, 'bob', { deviceId: 'tablet' })
    expect(again.welcome.away_after_ms).toBe(200)
  })
})
