// Every small history, and what comparing two worlds cannot show because it is random in both.
import { expect, test } from 'bun:test'
import { spokenIn } from './compact-frames.ts'
import { compare, play } from './compare.ts'
import { LEAKS } from './leaks.ts'
import { HIDDEN_DEVICES, type Move, type Step } from './moves.ts'
import {
  at,
  CONTACTS,
  erases,
  HIDDEN_STATUS,
  hides,
  history,
  midway,
  restarts,
  slowly,
  streams,
  subscribes,
  under,
  watches,
} from './small-histories.ts'
import { decides, lists, opens } from './user-moves.ts'

for (const { title, history } of LEAKS) {
  test(title, async () => expect((await compare(history)).difference).toBeNull())
  test(`${title}, in the compact encoding`, async () =>
    expect((await compare(spokenIn('compact', history))).difference).toBeNull())
}

/** How far apart the ids of two sessions of the viewer are, with so many sessions of `hidden` between them. */
async function distanceWith(sessions: number): Promise<number> {
  const lines = await play(
    history(
      at(0, hides(HIDDEN_STATUS)),
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

test('[S6] session ids do not count the sessions of other users', async () => {
  expect([await distanceWith(0), await distanceWith(1), await distanceWith(3)]).not.toEqual([1, 2, 4])
})

/** What the viewer is told when the server goes away, with so many connections of `hidden`. */
async function waitWith(connections: number): Promise<number> {
  const hidden = HIDDEN_DEVICES.slice(0, connections).map((device) => opens('hidden', device))
  const lines = await play(
    under(
      { drain_ms: 1_000 },
      history(at(0, hides(HIDDEN_STATUS)), at(0, ...hidden), at(0, opens('viewer', 'v1')), at(0, restarts)),
    ),
  )
  const drain = lines[0]!.entries.find(({ text }) => text.includes('"drain"'))!
  return (JSON.parse(drain.text) as { reconnect_after_ms: number }).reconnect_after_ms
}

test('[S6] the wait before a reconnect does not count the connections of other users', async () => {
  expect([await waitWith(0), await waitWith(1), await waitWith(3)]).not.toEqual([0, 250, 375])
})

test('[S6, X6] a user who comes back after an erasure is seen as they are by a viewer who was reading them', async () => {
  const lines = await play(
    slowly(
      history(
        at(500, opens('viewer', 'v1')),
        at(500, decides('other', HIDDEN_STATUS)),
        at(500, opens('other', 'o1')),
        midway(20, watches('v1', 'other')),
        at(300, erases('other')),
        at(2_000, opens('other', 'o1')),
      ),
      60,
    ),
  )
  expect(lines[0]!.entries.at(-1)!.text).toContain('"user_id":"other","status":"online"')
})

const OPEN = { status_visibility: 'everyone', last_seen_visibility: 'everyone' }
// Both worlds would be the same if neither told it.
const losses: readonly [how: string, before: Step, loss: Move][] = [
  ['by their settings', at(0), decides('hidden', HIDDEN_STATUS)],
  [
    'by their contact list',
    at(0, decides('hidden', CONTACTS), lists(null, 'hidden', 'PUT', ['viewer'])),
    lists(null, 'hidden', 'DELETE', ['viewer']),
  ],
  [
    'by reciprocity',
    at(0, decides('hidden', { ...OPEN, reciprocal: true })),
    decides('viewer', HIDDEN_STATUS),
  ],
]
for (const [how, before, loss] of losses) {
  test(`[S5, S6] a viewer is told when they may not see a user any more ${how}, on every connection`, async () => {
    const lines = await play(
      history(
        before,
        at(50, opens('hidden', 'h1'), opens('viewer', 'v1'), watches('v1', 'hidden')),
        at(50, streams('viewer', 'hidden')),
        at(50, subscribes('viewer', 'hidden')),
        at(50, loss),
      ),
    )
    const told = lines
      .filter(({ name }) => name.startsWith('socket') || name.startsWith('stream'))
      .map(({ entries }) => entries.filter(({ text }) => text.includes('"user_id":"hidden"')))
    expect(told).toHaveLength(2)
    const overGrpc = lines.find(({ name }) => name.startsWith('gRPC'))!.entries
    expect(overGrpc.at(-2)!.text).toContain('"STATUS_ONLINE"')
    expect(overGrpc.at(-1)!.text).toBe(
      '{"type":"presence_change","changes":[{"user_id":"hidden","status":"STATUS_OFFLINE",' +
        '"last_seen_bucket":"LAST_SEEN_BUCKET_UNSPECIFIED","devices":[],"version":0,"source":"SOURCE_UNSPECIFIED"}]}',
    )
    for (const entries of told) {
      expect(entries.at(-2)!.text).toContain('"status":"online"')
      expect(entries.at(-1)!.text).toContain('"status":"offline","last_seen":null,"custom_status":null')
      expect(entries.at(-1)!.text).toContain('"version":0')
    }
  })
}

test('[X6] a stream that is opening while its viewer is erased does not open', async () => {
  const lines = await play(
    slowly(
      history(at(500, opens('other', 'o1')), at(1_000, streams('viewer', 'other'), erases('viewer'))),
      60,
    ),
  )
  expect(lines[0]!.entries.map(({ text }) => text.split('\n')[0])).toEqual([
    'status 503',
    expect.any(String),
    'end',
  ])
})
