// Every privacy mode through every way to look: what a viewer gets is exactly what the mode says, the
// same by asking and by watching, in the snapshot and in every push, while the person is here and after
// they left. The table of modes says what is right; the doors only ask.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import {
  choose,
  editContacts,
  hidden,
  leave,
  openAudience,
  openPart,
  positions,
  say,
  seenAs,
  toldSince,
  truthOf,
  untilDelivered,
} from './audience/audience.ts'
import { behindEveryDoor, throughEveryDoor } from './audience/doors.ts'
import { MODES, type Mode } from './audience/modes.ts'
import { ask, call, type Person, useScene } from './scene.ts'

const scene = useScene()
const DEVICE = 'phone'

const hiddenAsOf = ({ server }: Mode) => (server?.hidden_as === 'null' ? null : 'offline')

async function prepare(url: string, mode: Mode): Promise<void> {
  if (mode.bob !== undefined) await choose(url, 'bob', mode.bob)
  if (mode.alice !== undefined) await choose(url, 'alice', mode.alice)
  if (mode.bobsContacts !== undefined) await editContacts(url, 'PUT', 'bob', mode.bobsContacts)
  if (mode.alicesContacts !== undefined) await editContacts(url, 'PUT', 'alice', mode.alicesContacts)
}

/** How bob goes: others cannot tell one from the other. */
const GOING = {
  'he leaves': (url: string) => leave(url, 'bob', DEVICE),
  'he is invisible': (_: string, bob: Person) => ask(bob, { type: 'set_availability', status: 'invisible' }),
}

describe.each(Object.keys(GOING) as (keyof typeof GOING)[])(
  'each mode, through every door, until %s',
  (how) => {
    for (const mode of MODES) {
      test(`[S5] [P19] ${mode.name}: alice sees ${mode.sees}`, async () => {
        const { url } = await scene.server({ flush_ms: 5, ...mode.server })
        await prepare(url, mode)
        const seen = (truth: Presence) => seenAs(truth, mode.sees, hiddenAsOf(mode))
        const behindDoors = (truth: Presence) =>
          behindEveryDoor({
            app: truth,
            viewer: seen(truth),
            anyone: seenAs(truth, mode.anyone, hiddenAsOf(mode)),
          })
        /** A viewer who sees nothing gets no push at all. */
        const pushed = (truth: Presence) => (mode.sees === 'nothing' ? [] : [seen(truth)])

        const bob = await scene.person(url, 'bob', { deviceId: DEVICE, platform: 'mobile' })
        await ask(bob, { type: 'set_availability', status: 'busy' })
        const busy = await say(url, 'bob', 'before')
        expect(busy).toEqual({
          user_id: 'bob',
          status: 'busy',
          last_seen: expect.any(Number),
          custom_status: { text: 'before', emoji: null, expires_at: null },
          devices: ['mobile'],
          version: expect.any(Number),
        })
        const { ears } = await openAudience(scene, url, 'alice', ['bob'])
        expect(toldSince(ears, [0, 0], 'bob')).toEqual([[seen(busy)], [seen(busy)]])
        expect(await throughEveryDoor(url, 'alice', 'bob')).toEqual(behindDoors(busy))

        let since = positions(ears)
        const changed = await say(url, 'bob', 'after')
        expect(changed.version).toBe(busy.version + 1)
        await untilDelivered(url, ears)
        expect(toldSince(ears, since, 'bob')).toEqual([pushed(changed), pushed(changed)])

        since = positions(ears)
        const goingAt = Date.now()
        await GOING[how](url, bob)
        const goneAt = Date.now()
        const gone = await truthOf(url, 'bob')
        expect(gone).toEqual({
          ...changed,
          status: 'offline',
          last_seen: expect.any(Number),
          devices: [],
          version: changed.version + 1,
        })
        expect(gone.last_seen).toBeWithin(goingAt, goneAt + 1)
        await untilDelivered(url, ears)
        expect(toldSince(ears, since, 'bob')).toEqual([pushed(gone), pushed(gone)])
        expect(await throughEveryDoor(url, 'alice', 'bob')).toEqual(behindDoors(gone))
        if (how === 'he leaves') return

        // What he does behind the mask, only he sees.
        since = positions(ears)
        bob.be('idle')
        const own = await say(url, 'bob', 'behind the mask')
        expect(own).toMatchObject({ devices: ['mobile'], custom_status: { text: 'behind the mask' } })
        await scene.person(url, 'bob', { deviceId: 'laptop', platform: 'desktop' })
        await untilDelivered(url, ears)
        expect(toldSince(ears, since, 'bob')).toEqual([[], []])
        expect(await throughEveryDoor(url, 'alice', 'bob')).toEqual(behindDoors(gone))
      })
    }
  },
)

describe('the two ends', () => {
  for (const hiddenAs of ['offline', null] as const) {
    test(`[S6] an unknown user looks like a user hidden as ${hiddenAs}`, async () => {
      const { url } = await scene.server({ hidden_as: String(hiddenAs) })
      const { ears } = await openAudience(scene, url, 'alice', ['ghost'])
      const ghost = hidden('ghost', hiddenAs)
      expect(toldSince(ears, [0, 0], 'ghost')).toEqual([[ghost], [ghost]])
      expect(await throughEveryDoor(url, 'alice', 'ghost')).toEqual(
        behindEveryDoor({ app: ghost, viewer: ghost, anyone: ghost }),
      )
    })
  }

  test('[S5] users see all of themselves, whatever they hide from others', async () => {
    const { url } = await scene.server({ flush_ms: 5, default_visibility: 'nobody' })
    await choose(url, 'bob', {
      status_visibility: 'nobody',
      last_seen_visibility: 'nobody',
      last_seen_precision: 'approximate',
      reciprocal: true,
      deny: ['bob'],
    })
    const { socket, ears } = await openAudience(scene, url, 'bob', ['bob'])
    const here = openPart(socket.welcome.self)
    // The arrival is announced once its row is written, which the welcome does not wait for.
    const own = await ears[0]!.sees('bob', ({ version }) => version > 0)
    expect(own.presence).toEqual(here)
    expect(await throughEveryDoor(url, 'bob', 'bob')).toEqual(
      behindEveryDoor({ app: here, viewer: here, anyone: hidden('bob') }),
    )
    await untilDelivered(url, ears)
    const since = positions(ears)
    const changed = await say(url, 'bob', 'to myself')
    await untilDelivered(url, ears)
    expect(toldSince(ears, since, 'bob')).toEqual([[changed], [changed]])
  })

  test('[S5] viewer_id is for the backend: a user cannot read as another viewer', async () => {
    const { url } = await scene.server()
    await choose(url, 'bob', { status_visibility: 'nobody', allow: ['carol'] })
    const paths = ['/api/v1/presence/bob?', '/api/v1/presence?user_ids=bob&', '/presence/batch?user_ids=bob&']
    for (const path of paths) {
      const answer = await call(url, 'dev:alice', 'GET', `${path}viewer_id=carol`)
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    const posted = await call(url, 'dev:alice', 'POST', '/api/v1/presence/query?viewer_id=alice', {
      user_ids: ['bob'],
    })
    expect(posted).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  })
})
