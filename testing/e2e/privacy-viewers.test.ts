// Privacy from the side of the viewer: what they show themselves decides what they see of users who
// ask for it in return, and a client that comes back is told what it may see by now, whatever it knew.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import {
  choose,
  editContacts,
  hidden,
  isHidden,
  openAudience,
  positions,
  say,
  says,
  seenAs,
  toldSince,
  truthOf,
  untilDelivered,
} from './audience/audience.ts'
import { openStreamEar } from './audience/stream.ts'
import { useScene, watch } from './scene.ts'

const scene = useScene()

describe('reciprocity', () => {
  test('[S5] a viewer who hides loses all reciprocal targets and no other', async () => {
    const { url } = await scene.server({ flush_ms: 5 })
    const mutual = Array.from({ length: 20 }, (_, n) => `mutual-${n}`)
    for (const userId of mutual) await choose(url, userId, { reciprocal: true })
    const targets = [...mutual, 'open']
    for (const userId of targets) await scene.person(url, userId)
    const alice = await openAudience(scene, url, 'alice', targets)
    const other = await openAudience(scene, url, 'other', targets)

    const since = positions(alice.ears)
    const sinceOfOther = positions(other.ears)
    const toldOf = (userId: string) => toldSince(alice.ears, since, userId)
    await choose(url, 'alice', { status_visibility: 'nobody' })
    await untilDelivered(url, [...alice.ears, ...other.ears])
    for (const userId of mutual) expect(toldOf(userId)).toEqual([[hidden(userId)], [hidden(userId)]])
    expect(toldOf('open')).toEqual([[], []])

    await choose(url, 'alice', { status_visibility: 'everyone', last_seen_visibility: 'nobody' })
    await untilDelivered(url, [...alice.ears, ...other.ears])
    for (const userId of mutual) {
      const truth = await truthOf(url, userId)
      const both = [hidden(userId), seenAs(truth, 'status')]
      expect(toldOf(userId)).toEqual([both, both])
    }
    expect(toldOf('open')).toEqual([[], []])
    for (const userId of targets) expect(toldSince(other.ears, sinceOfOther, userId)).toEqual([[], []])
  })

  /** Nowhere present. */
  const onlyStreams = async (url: string) => {
    const stream = await openStreamEar(url, 'alice', ['bob'])
    scene.onEnd(stream.close)
    return stream
  }
  const onlyConnects = async (url: string) => {
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    return alice
  }

  for (const [how, enterAlice] of Object.entries({ onlyStreams, onlyConnects })) {
    test(`[S5] holds for a viewer who ${how === 'onlyStreams' ? 'only streams' : 'has a WebSocket only'}`, async () => {
      const { url } = await scene.server({ flush_ms: 5 })
      await choose(url, 'bob', { reciprocal: true })
      const truth = await say(url, 'bob', 'in return')
      const alice = await enterAlice(url)
      await choose(url, 'alice', { status_visibility: 'nobody' })
      await alice.sees('bob', isHidden)
      await say(url, 'bob', 'unheard')
      const again = await say(url, 'bob', 'in return again')
      await choose(url, 'alice', { status_visibility: 'contacts' })
      await editContacts(url, 'PUT', 'alice', ['bob'])
      await alice.sees('bob', says('in return again'))
      expect(toldSince([alice], [0], 'bob')).toEqual([[truth, hidden('bob'), again]])
    })
  }
})

describe('a client that comes back', () => {
  test('[S5][W9] is told what it may see by now, though the version is the one it knows', async () => {
    const { url } = await scene.server()
    await scene.person(url, 'bob')
    const { version } = await say(url, 'bob', 'here')
    const expectOnReturn = async (known: number, expected: Presence[]) => {
      const alice = await scene.person(url, 'alice')
      alice.send({ type: 'watch', user_ids: ['bob'], known: { bob: known } })
      expect((await alice.next('presence_state')).states).toEqual(expected)
      alice.close()
    }
    await choose(url, 'bob', { last_seen_visibility: 'nobody' })
    await expectOnReturn(version, [seenAs(await truthOf(url, 'bob'), 'status')])
    await choose(url, 'bob', { status_visibility: 'nobody' })
    await expectOnReturn(version, [hidden('bob')])
    await expectOnReturn(0, [])
    await choose(url, 'bob', { status_visibility: 'everyone', last_seen_visibility: 'everyone' })
    await expectOnReturn(0, [await truthOf(url, 'bob')])
  })

  test('[S5][W9] is told that a target is hidden by now by the default of the server', async () => {
    const { url } = await scene.server({ default_visibility: 'contacts' })
    await editContacts(url, 'PUT', 'bob', ['alice'])
    const truth = await say(url, 'bob', 'hello')
    const known = { bob: truth.version }
    expect(await watch(await scene.person(url, 'alice'), ['bob'])).toEqual([truth])
    expect(await watch(await scene.person(url, 'alice'), ['bob'], known)).toEqual([])
    await editContacts(url, 'PUT', 'bob', [])
    expect(await watch(await scene.person(url, 'alice'), ['bob'], known)).toEqual([hidden('bob')])
  })
})
