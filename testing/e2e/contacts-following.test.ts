// A connection that asked for its contacts follows the list, however the backend edits it: new contacts come
// with their state, removed ones become unknown and are watched no more.
import { describe, expect, test } from 'bun:test'
import { choose, editContacts, hidden, isHidden, say, says } from './audience/audience.ts'
import {
  add,
  aliceFollows,
  caughtUp,
  editWhileAsking,
  follow,
  heardSince,
  remove,
  replace,
} from './audience/following.ts'
import { ask, isOnline, useScene, watch } from './scene.ts'

const scene = useScene()

describe('following the list', () => {
  test('[W1][W2] begins with the state of every contact, then come their changes', async () => {
    const { url } = await scene.server()
    const bob = await scene.person(url, 'bob', { platform: 'web' })
    const { alice, snapshot } = await aliceFollows(scene, url, 'carol', 'bob')
    expect(snapshot).toEqual([
      {
        user_id: 'bob',
        status: 'online',
        last_seen: expect.any(Number),
        custom_status: null,
        devices: ['web'],
        version: bob.welcome.self.version,
      },
      hidden('carol'),
    ])
    await scene.person(url, 'carol')
    await alice.sees('carol', isOnline)
  })

  test('[W1][W2] added contacts come with their state, each once', async () => {
    const { url } = await scene.server()
    const { alice } = await aliceFollows(scene, url, 'bob')
    const since = alice.heard.length
    const carol = await say(url, 'carol', 'new here')
    await add(url, 'dave', 'bob', 'carol', 'carol')
    const { states } = await alice.next('presence_state', (frame) => frame.states.length === 2)
    expect(states).toEqual([carol, hidden('dave')])
    await add(url, 'carol', 'dave')
    await caughtUp(url, alice, 'last')
    expect(heardSince(alice, since)).toEqual({ states: ['carol', 'dave', 'last'], changes: [] })
    await scene.person(url, 'dave')
    await alice.sees('dave', isOnline)
  })

  test('[W1][W2] removed contacts become unknown, once, and nothing more comes of them', async () => {
    const { url } = await scene.server()
    const bob = await scene.person(url, 'bob')
    const { alice } = await aliceFollows(scene, url, 'bob', 'carol')
    const since = alice.heard.length
    await remove(url, 'bob', 'never-there')
    expect((await alice.sees('bob', isHidden, { since })).presence).toEqual(hidden('bob'))
    await ask(bob, { type: 'set_custom_status', text: 'unheard' })
    bob.be('idle')
    await ask(bob, { type: 'unwatch', user_ids: [] })
    await scene.person(url, 'carol')
    await alice.sees('carol', isOnline, { since })
    await caughtUp(url, alice, 'last')
    expect(heardSince(alice, since)).toEqual({ states: ['last'], changes: ['bob', 'carol'] })
  })

  test('[W1][W2] every connection that asked follows, and no other', async () => {
    const { url } = await scene.server()
    await replace(url, 'bob')
    const [first, second, silent] = await Promise.all(
      ['d1', 'd2', 'd3'].map((deviceId) => scene.person(url, 'alice', { deviceId })),
    )
    await follow(first!)
    await follow(second!)
    await follow(second!)
    await watch(silent!, ['marker'])
    const since = [first!, second!, silent!].map(({ heard }) => heard.length)
    await add(url, 'carol')
    await remove(url, 'bob')
    for (const [index, person] of [first!, second!].entries()) {
      await caughtUp(url, person, `last-${index}`)
      await person.sees('bob', isHidden, { since: since[index]! })
      expect(person.sightings('carol', since[index]!)).toHaveLength(1)
      expect(person.sightings('bob', since[index]!)).toHaveLength(1)
    }
    await scene.mark(silent!, url)
    expect(heardSince(silent!, since[2]!)).toEqual({ states: [], changes: ['marker', 'marker'] })
  })

  test('[W1][W2][S5] contacts who hide from the owner are listed like unknown users', async () => {
    const { url } = await scene.server({ flush_ms: 5 })
    await choose(url, 'bob', { status_visibility: 'nobody' })
    await choose(url, 'carol', { status_visibility: 'contacts' })
    for (const userId of ['bob', 'carol']) await say(url, userId, 'hidden')
    const { alice, snapshot } = await aliceFollows(scene, url, 'bob')
    expect(snapshot).toEqual([hidden('bob')])
    const since = alice.heard.length
    await add(url, 'carol')
    expect((await alice.sees('carol', () => true, { since })).presence).toEqual(hidden('carol'))
    await editContacts(url, 'PUT', 'carol', ['alice'])
    await alice.sees('carol', says('hidden'), { since })
    await remove(url, 'carol', 'bob')
    await alice.sees('bob', isHidden, { since })
    expect(alice.sightings('carol', since).map(({ presence }) => presence.version > 0)).toEqual([
      false,
      true,
      false,
    ])
  })

  test('[W1][W2] many edits at the same moment all hold', async () => {
    const { url } = await scene.server()
    const { alice } = await aliceFollows(scene, url, 'keep')
    const names = Array.from({ length: 40 }, (_, n) => `c${n}`)
    await Promise.all(names.map((name) => add(url, name)))
    for (const name of names) await alice.sees(name, isHidden)
    const since = alice.heard.length
    const odd = names.filter((_, n) => n % 2 === 1)
    await Promise.all(odd.map((name) => remove(url, name)))
    for (const name of odd) await alice.sees(name, isHidden, { since })
    await caughtUp(url, alice, 'last')
    expect(heardSince(alice, since)).toEqual({ states: ['last'], changes: odd.sort() })
  })

  test('[W1][W2] there is no gap between asking for the list and following it', async () => {
    const { url } = await scene.server({ flush_ms: 5 })
    await editWhileAsking(scene, url, url, 40)
  })
})
