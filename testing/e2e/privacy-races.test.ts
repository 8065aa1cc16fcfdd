// Privacy and status that change at the same moment, again and again: whatever the timing, no viewer is
// told something they may not see. Both changes are on the wire in one turn, the hiding one first.
import { expect, test } from 'bun:test'
import { allSee } from '../clients/hearing.ts'
import {
  choose,
  hidden,
  isHidden,
  openAudience,
  positions,
  say,
  says,
  toldSince,
  untilDelivered,
} from './audience/audience.ts'
import { HIDING, hideAndWhisper, linesOfBob, SHOWING, textOf } from './audience/races.ts'
import { openStreamEar } from './audience/stream.ts'
import { ask, useScene, watch } from './scene.ts'

const scene = useScene()

test('[S5][S6] what is said in the moment of hiding is never seen, nor what was said while hidden', async () => {
  const { url } = await scene.server({ flush_ms: 1 })
  await scene.person(url, 'bob')
  await say(url, 'bob', 'open')
  const { ears } = await openAudience(scene, url, 'alice', ['bob'])
  await hideAndWhisper(scene, url, ears, 45)
})

test('[S5][S6] nor by a viewer who begins to watch in that moment', async () => {
  const { url } = await scene.server({ flush_ms: 1, frames_per_second: 10_000 })
  await scene.person(url, 'bob')
  const bob = await linesOfBob(scene, url)
  const alice = await scene.person(url, 'alice')
  const rounds = 45
  for (let round = 0; round < rounds; round++) {
    await say(url, 'bob', 'open')
    await choose(url, 'bob', SHOWING)
    const since = alice.heard.length
    const hides = bob.chooses(HIDING[round % HIDING.length]!)
    const snapshot = watch(alice, ['bob'])
    const opening = openStreamEar(url, 'alice', ['bob'])
    const whispers = bob.says('secret')
    expect(await Promise.all([hides, whispers])).toEqual([200, 200])
    await snapshot
    const stream = await opening
    // A watch that began before it took effect is told now; the others got nothing from the start.
    await alice.sees('bob', isHidden, { since })
    await stream.sees('bob', isHidden)
    await ask(alice, { type: 'unwatch', user_ids: ['bob'] })
    const heard = [...alice.sightings('bob', since), ...stream.sightings('bob')]
    await stream.close()
    for (const { presence } of heard) expect(textOf(presence)).not.toBe('secret')
    expect(alice.sightings('bob', since).at(-1)!.presence).toEqual(hidden('bob'))
  }
})

test('[S5][S6] a viewer who hides gets nothing of a reciprocal target from then on', async () => {
  const { url } = await scene.server({ flush_ms: 1 })
  await choose(url, 'bob', { reciprocal: true })
  await scene.person(url, 'bob')
  await say(url, 'bob', 'open')
  const { ears } = await openAudience(scene, url, 'alice', ['bob'])
  for (let round = 0; round < 20; round++) {
    const since = positions(ears)
    await choose(url, 'alice', { status_visibility: 'nobody' })
    await say(url, 'bob', 'secret')
    await Promise.all([say(url, 'bob', 'open'), untilDelivered(url, ears)])
    await choose(url, 'alice', { status_visibility: 'everyone' })
    await allSee(ears, since, 'bob', says('open'))
    const told = toldSince(ears, since, 'bob').map((presences) => presences.map(textOf))
    expect(told).toEqual([
      [null, 'open'],
      [null, 'open'],
    ])
  }
})
