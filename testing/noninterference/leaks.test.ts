// Ways to be given away that random histories found, each as a small history of its own. All are mended; what
// is left is in docs/privacy.md.
import { expect, test } from 'bun:test'
import { play } from './compare.ts'
import { HIDDEN_DEVICES } from './moves.ts'
import { call, decides, erasesHidden, lists, opens } from './people.ts'
import {
  at,
  CONTACTS,
  expectEqual,
  hides,
  history,
  historyFrom,
  NOBODY,
  reads,
  silent,
  slowly,
  streams,
  vanishes,
  watches,
  writes,
} from './small-histories.ts'

test('[S6] asking again while contacts are looked up is not answered any later', () =>
  expectEqual(
    history(
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden')),
      at(100, hides(CONTACTS), watches('v1', 'hidden')),
    ),
  ))

test('[S6] the loss of sight is told in its time, whatever they choose next', () =>
  expectEqual(
    slowly(
      historyFrom(
        2,
        at(100, opens('viewer', 'v1'), watches('v1', 'hidden'), opens('hidden', 'h1')),
        at(45, decides('hidden', CONTACTS)),
        at(100, hides({ ...CONTACTS, last_seen_precision: 'approximate' })),
      ),
      15,
    ),
  ))

test('[S6] the loss of sight is told in its time, whatever they say meanwhile', () =>
  expectEqual(
    slowly(
      historyFrom(
        2,
        at(1_005, opens('viewer', 'v1'), opens('hidden', 'h1'), watches('v1', 'hidden')),
        // Contacts are known in the very moment of a turn of the outbox.
        at(10, decides('hidden', CONTACTS)),
        at(400, writes('hidden', 'At sea')),
      ),
      45,
    ),
  ))

test('[S6] the loss of sight is told though there was nothing to see any more', () =>
  expectEqual(
    slowly(
      historyFrom(
        3,
        at(300, writes('hidden', 'At sea')),
        at(500, opens('viewer', 'v1'), watches('v1', 'hidden')),
        at(50, decides('hidden', CONTACTS)),
        // They are read first, and so it takes effect while contacts are looked up.
        at(400, writes('hidden', null)),
      ),
      100,
    ),
  ))

test('[S6] arriving while contacts are looked up is not to be noticed', () =>
  expectEqual(
    history(
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden')),
      // One batch: who may see them, and that they are here.
      at(100, hides(CONTACTS), opens('hidden', 'h1')),
    ),
  ))

test('[S6] a watch takes no longer for somebody whose contacts are looked up', () =>
  expectEqual(
    history(
      at(0, hides(CONTACTS)),
      at(100, opens('viewer', 'v1')),
      // In the snapshot or in a change after it: that depends on how long the watch took.
      at(100, opens('other', 'o1'), watches('v1', 'hidden', 'other')),
    ),
  ))

test('[S6] an answer takes no longer, and no shorter, for somebody hidden', () =>
  expectEqual(
    slowly(
      history(
        at(50, hides(NOBODY)),
        at(50, opens('hidden', 'h1')),
        at(50, reads('viewer', 'hidden')),
        // The second one is as quick for both, and so is one in company.
        at(50, reads('viewer', 'hidden')),
        at(50, call('viewer', 'self', 'GET', '/api/v1/presence?user_ids=other,hidden,friend')),
      ),
    ),
  ))

test('[S6] that somebody hidden watches does not make them any quicker to find', () =>
  expectEqual(
    slowly(
      history(
        at(50, hides(NOBODY)),
        at(50, streams('hidden', 'mutual')),
        at(50, opens('viewer', 'v1')),
        at(50, watches('v1', 'hidden')),
        at(50, reads('viewer', 'hidden')),
      ),
    ),
  ))

test('[S2] somebody invisible takes as long to find as somebody who left long ago', () =>
  expectEqual({
    settings: {},
    steps: [
      at(50, opens('hidden', 'h1')),
      at(310_000, vanishes),
      at(50, opens('hidden', 'h2')),
      at(50, reads('viewer', 'hidden')),
      at(70_000, reads('viewer', 'hidden')),
      at(50, reads('viewer', 'hidden')),
    ],
    secretFrom: 1,
    archiveMs: 5,
  }))

test('[S6] when a change arrives does not depend on who else is waiting for one', () =>
  expectEqual({
    ...history(
      at(0, hides(NOBODY)),
      at(100, opens('hidden', 'h1'), opens('viewer', 'v1'), watches('v1', 'other')),
      at(
        130,
        call('other', 'self', 'PUT', '/api/v1/presence/status', { text: 'At sea', expires_in_ms: 140 }),
      ),
      // Their own view waits for the next turn of the outbox, the one in which the expiry is found.
      at(100, {
        does: 'say',
        who: 'hidden',
        device: 'h1',
        frame: { type: 'set_custom_status', text: 'Here' },
      }),
    ),
  }))

test('[S6] the order of changes in a frame does not depend on whose connections there were', () =>
  expectEqual({
    ...history(
      at(0, hides(NOBODY)),
      at(50, opens('viewer', 'v1'), watches('v1', 'other', 'mutual')),
      at(50, opens('hidden', 'h1')),
      at(50, silent('other', 'o1')),
      at(0, { does: 'hang up', who: 'hidden', device: 'h1' }),
      // Takes the row that became free, and is found silent before the other one.
      at(15_000, silent('mutual', 'm1')),
    ),
    settings: { offline_delay_ms: 0 },
  }))

test('[S6] the order of what is due at one instant does not depend on who else is due', () =>
  expectEqual(
    history(
      at(0, hides(NOBODY)),
      at(50, opens('viewer', 'v1'), watches('v1', 'other', 'mutual', 'friend')),
      at(0, hides({ deny: ['viewer'] }), call('hidden', 'self', 'PUT', '/api/v1/presence/status', SOON)),
      at(0, call('other', 'self', 'PUT', '/api/v1/presence/status', LATER)),
      at(0, call('mutual', 'self', 'PUT', '/api/v1/presence/status', LATER)),
      at(5_000, call('friend', 'self', 'PUT', '/api/v1/presence/status', LATER)),
    ),
  ))
const SOON = { text: 'At sea', expires_in_ms: 1_000 }
const LATER = { text: 'At sea', expires_in_ms: 3_000 }

test('[S6] when a stream tells its ids does not depend on who opened the first', () =>
  expectEqual(
    history(at(300, hides(NOBODY), streams('hidden', 'other')), at(16_500, streams('viewer', 'other'))),
  ))

test('[S6] the second round of an erasure treats those who came back like those who did not', () =>
  expectEqual(
    history(
      at(100, opens('viewer', 'v1')),
      at(100, erasesHidden),
      // The backend begins anew with them, in other people's lists first.
      at(0, lists(null, 'viewer', 'PUT', ['hidden'])),
      at(0, hides(NOBODY)),
      at(11_000, opens('hidden', 'h1')),
      at(100, { does: 'say', who: 'viewer', device: 'v1', frame: { type: 'watch_contacts' } }),
    ),
  ))

test('[S2] what expires while somebody is invisible does so whether they are active or not', () =>
  expectEqual({
    settings: {},
    steps: [
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden')),
      at(0, opens('hidden', 'h1')),
      at(50, call('hidden', 'self', 'PUT', '/api/v1/presence/status', { text: 'At sea', expires_in_ms: 60 })),
      at(50, vanishes),
      at(500, opens('hidden', 'h2')),
    ],
    secretFrom: 3,
  }))

/** How far apart two sessions of the viewer are by their names, with so many of `hidden` between them. */
async function distanceWith(sessions: number): Promise<number> {
  const lines = await play(
    history(
      at(0, hides(NOBODY)),
      at(0, opens('viewer', 'v1')),
      at(0, ...HIDDEN_DEVICES.slice(0, sessions).map((device) => opens('hidden', device))),
      at(0, opens('viewer', 'v2')),
    ),
  )
  const [first, second] = lines.map(({ entries }) => {
    const { session_id: id } = JSON.parse(entries[0]!.text) as { session_id: string }
    return Number.parseInt(id.slice(id.lastIndexOf('-') + 1), 36)
  })
  return second! - first!
}

test('[S6] the names of sessions do not count the sessions of others', async () => {
  expect([await distanceWith(0), await distanceWith(1), await distanceWith(3)]).not.toEqual([1, 2, 4])
})

/** What the viewer is told when the server goes away, with so many connections of `hidden`. */
async function waitWith(connections: number): Promise<number> {
  const hidden = HIDDEN_DEVICES.slice(0, connections).map((device) => opens('hidden', device))
  const lines = await play({
    ...history(
      at(0, hides(NOBODY)),
      at(0, ...hidden),
      at(0, opens('viewer', 'v1')),
      at(0, { does: 'restart', who: null }),
    ),
    settings: { drain_ms: 1_000 },
  })
  const drain = lines[0]!.entries.find(({ text }) => text.includes('"drain"'))!
  return (JSON.parse(drain.text) as { reconnect_after_ms: number }).reconnect_after_ms
}

test('[S6] how long to wait before connecting elsewhere does not count the connections of others', async () => {
  expect([await waitWith(0), await waitWith(1), await waitWith(3)]).not.toEqual([0, 250, 375])
})

test('[S6, X6] whoever came back after an erasure is looked up no sooner than somebody who did not', () => {
  const reads = call('viewer', 'anyone', 'GET', '/api/v1/public/presence/hidden')
  return expectEqual(
    slowly(
      history(
        at(1_000, erasesHidden),
        at(1_000, hides(NOBODY)),
        at(2_500, opens('hidden', 'h1')),
        // Until what is left of the erasure is gone, and this look is still remembered.
        at(59_500, reads),
        at(100, reads),
      ),
    ),
  )
})
