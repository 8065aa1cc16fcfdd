// Ways in which somebody hidden who watches, or looks, could be felt by others who watch the same people: by the
// size of an audience, by what the server knows because of them, by the number of their row. Each is a small
// history of its own, and all are mended (docs/decisions/0021).
import { expect, test } from 'bun:test'
import { play } from './compare.ts'
import type { Frame, Move, Name, Step } from './moves.ts'
import { call, decides, erasesHidden, lists, opens } from './people.ts'
import {
  at,
  expectEqual,
  hides,
  history,
  historyFrom,
  NOBODY,
  reads,
  slowly,
  streams,
  under,
  vanishes,
  watches,
  watchesAs,
  writes,
} from './small-histories.ts'

const erases = (userId: Name): Move => call(null, 'backend', 'DELETE', `/api/v1/users/${userId}`)
const leaves = (who: Name, device: string): Move => {
  const frame: Frame = { type: 'leave' }
  return { does: 'say', who, device, frame }
}

/** Where one may watch, a second one is told that no changes will follow. */
const FULL_WITH_ONE = { polled_above: 1 }

test('[S6, G6] somebody hidden who watches leaves room for others in an audience that has a limit', () =>
  expectEqual(
    under(
      FULL_WITH_ONE,
      history(
        at(50, hides(NOBODY), opens('other', 'o1'), opens('viewer', 'v1')),
        at(50, opens('hidden', 'h1')),
        at(50, watchesAs('hidden', 'h1', 'other')),
        at(50, watches('v1', 'other')),
      ),
    ),
  ))

/** Somebody watches for all to see, and from then on is not to be noticed. */
const expectRoomFor = (secretFrom: number, ...steps: Step[]) =>
  expectEqual(
    under(
      FULL_WITH_ONE,
      historyFrom(
        secretFrom,
        at(250, opens('viewer', 'v1'), opens('other', 'o1'), opens('hidden', 'h1')),
        at(250, watchesAs('hidden', 'h1', 'other')),
        ...steps,
        at(50, watches('v1', 'other')),
      ),
    ),
  )

test('[S2, G6] so does somebody who becomes invisible while they watch', () =>
  expectRoomFor(2, at(250, vanishes)))

test('[S6, G6] whoever hides while they watch may go, and makes no more room by that', () =>
  expectRoomFor(3, at(250, decides('hidden', NOBODY)), at(250, leaves('hidden', 'h1'))))

test('[S6] somebody hidden who watches does not spare others a change from nothing to nothing', () =>
  expectEqual(
    history(
      at(50, hides(NOBODY), opens('viewer', 'v1')),
      at(50, opens('hidden', 'h1')),
      at(50, watchesAs('hidden', 'h1', 'other')),
      // It expires, and then there is a version but nothing to show.
      at(
        10_000,
        call('other', 'self', 'PUT', '/api/v1/presence/status', { text: 'At sea', expires_in_ms: 3_000 }),
      ),
      at(100, watches('v1', 'other')),
      at(100, lists(null, 'other', 'PUT', ['friend'])),
    ),
  ))

test('[S6, X6] whoever is erased while others read them is not shown, whether somebody hidden watches or not', () =>
  expectEqual(
    slowly(
      history(
        at(50, hides(NOBODY), opens('viewer', 'v1')),
        at(310_000, writes('other', 'At sea')),
        at(500, opens('hidden', 'h1')),
        at(61_000, watchesAs('hidden', 'h1', 'other')),
        at(20, watches('v1', 'other')),
        at(60_000, erases('other')),
      ),
      60,
    ),
  ))

test('[S6, X6] whoever comes back after they were erased while others read them is seen as they are', async () => {
  const told = slowly(
    history(
      at(500, opens('viewer', 'v1')),
      at(500, decides('other', NOBODY)),
      at(500, opens('other', 'o1')),
      at(20, watches('v1', 'other')),
      at(300, erases('other')),
      at(2_000, opens('other', 'o1')),
    ),
    60,
  )
  const lines = await play(told)
  expect(lines[0]!.entries.at(-1)!.text).toContain('"user_id":"other","status":"online"')
})

test('[X6] a stream that is opening while its viewer is erased does not open', async () => {
  const told = slowly(
    history(at(500, opens('other', 'o1')), at(20, streams('viewer', 'other')), at(1_000, erases('viewer'))),
    60,
  )
  const lines = await play(told)
  expect(lines[0]!.entries.map(({ text }) => text.split('\n')[0])).toEqual([
    'status 503',
    expect.any(String),
    'end',
  ])
})

test('[S6] a stream in the turn in which they choose to hide is not remembered', () =>
  expectEqual(
    slowly(history(at(50, hides(NOBODY), streams('hidden', 'other')), at(200, reads('viewer', 'other')))),
  ))

test('[S6, X6] nor is a stream in the turn in which they hide again after they were erased', () =>
  expectEqual(
    slowly(
      history(
        at(50, hides(NOBODY)),
        at(50, erasesHidden),
        at(50, hides(NOBODY), streams('hidden', 'other')),
        at(200, reads('viewer', 'other')),
      ),
    ),
  ))

for (const [how, comes] of [
  ['session', opens('hidden', 'h1')],
  ['stream', streams('hidden', 'nobody')],
] as const) {
  test(`[S6] a ${how} of somebody hidden has no part in when those who come later have their turn`, () =>
    expectEqual(
      under(
        { sessions_per_user: 100 },
        history(
          at(
            50,
            hides(NOBODY),
            opens('other', 'o1'),
            // With one more they fill what would be a block of rows.
            ...Array.from({ length: 62 }, (_, n) => opens('friend', `f${n}`)),
          ),
          at(50, comes),
          at(50, opens('viewer', 'v1')),
          at(50, watches('v1', 'other')),
          at(200, writes('other', 'At sea')),
        ),
      ),
    ))
}
