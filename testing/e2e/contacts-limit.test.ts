// A contact list longer than a connection may watch: the client is told so and keeps what it had, nothing
// else changes, and once the list fits it is followed again.
import { describe, expect, test } from 'bun:test'
import { isHidden, say, says } from './audience/audience.ts'
import { add, aliceFollows, follow, heardSince, ids, remove, replace } from './audience/following.ts'
import { ask, useScene, watch } from './scene.ts'

const scene = useScene()
const LIMIT = 4

describe('the limit', () => {
  test('[W1][W2] a list that is too long is refused whole, and can be asked for again', async () => {
    const { url } = await scene.server({ watch_limit: LIMIT })
    await replace(url, 'a', 'b', 'c', 'd', 'e')
    const alice = await scene.person(url, 'alice')
    alice.send({ type: 'watch_contacts', ref: 'too long' })
    expect(await alice.next('error')).toMatchObject({ code: 'watch_limit', ref: 'too long' })
    const since = alice.heard.length
    await say(url, 'a', 'unheard')
    expect(ids(await watch(alice, ['w', 'x', 'y', 'z']))).toEqual(['w', 'x', 'y', 'z'])
    expect(alice.sightings('a')).toEqual([])
    await ask(alice, { type: 'unwatch', user_ids: ['w', 'x', 'y', 'z'] })
    await remove(url, 'e')
    expect(ids(await follow(alice))).toEqual(['a', 'b', 'c', 'd'])
    expect(heardSince(alice, since).changes).toEqual([])
  })

  /** Alice follows two, and then the list becomes too long. */
  async function overTheLimit(url: string, edit: () => Promise<void>) {
    const { alice } = await aliceFollows(scene, url, 'bob', 'zoe')
    const since = alice.heard.length
    await edit()
    const error = await alice.next('error')
    expect(error).toMatchObject({ code: 'watch_limit' })
    expect(error).not.toHaveProperty('ref')
    return { alice, since }
  }

  test('[W1][W2] a list that grows past it is an error, and nothing changes', async () => {
    const { url } = await scene.server({ watch_limit: LIMIT })
    // The last by name is as much a contact as before.
    const { alice, since } = await overTheLimit(url, () => add(url, 'c', 'd', 'e', 'f'))
    await say(url, 'c', 'not watched')
    for (const userId of ['bob', 'zoe']) await say(url, userId, 'still heard')
    for (const userId of ['bob', 'zoe']) await alice.sees(userId, says('still heard'), { since })
    expect(heardSince(alice, since)).toEqual({ states: [], changes: ['bob', 'zoe'] })
  })

  test('[W1][W2] once an edit makes it fit, it is followed again', async () => {
    const { url } = await scene.server({ watch_limit: LIMIT })
    const { alice } = await overTheLimit(url, () => add(url, 'c', 'd', 'e', 'f'))
    const since = alice.heard.length
    await remove(url, 'c', 'd', 'bob')
    await alice.sees('f', isHidden, { since })
    await alice.sees('bob', isHidden, { since })
    for (const userId of ['e', 'f', 'zoe', 'bob']) await say(url, userId, 'hello')
    for (const userId of ['e', 'f', 'zoe']) await alice.sees(userId, says('hello'), { since })
    expect(alice.sightings('bob', since)).toHaveLength(1)
    expect(alice.heard.slice(since).filter(({ frame }) => frame.type === 'error')).toEqual([])
  })
})
