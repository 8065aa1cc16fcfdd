// Ways to be given away by what others feel: that they wait for what somebody hidden does, or are quicker
// for it. Each is a small history of its own, and all are mended (docs/decisions/0019).
import { test } from 'bun:test'
import type { Frame, Move, Name, Step } from './moves.ts'
import { decides, opens } from './people.ts'
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
  vanishes,
  watches,
  watchesAs,
  writes,
} from './small-histories.ts'

/** Longer than a turn of the outbox, so that what is told tells how often it was asked. */
const SLOW_MS = 60
/** After it nobody is kept hot any more. */
const FORGOTTEN_MS = 310_000
const MANY_DEVICES = Array.from({ length: 8 }, (_, at) => `h${at}`)
const says = (who: Name, device: string, frame: Frame): Move => ({ does: 'say', who, device, frame })
const leaves = (who: Name, device: string): Move => says(who, device, { type: 'leave' })

test('[S6] what others do takes no longer while somebody hidden is read', () =>
  expectEqual(
    slowly(history(at(50, opens('viewer', 'v1')), at(0, hides(NOBODY)), at(50, opens('viewer', 'v2')))),
  ))

test('[S6] a look takes no longer while somebody hidden is read', () =>
  expectEqual(
    slowly(
      history(
        at(50, opens('viewer', 'v1'), opens('other', 'o1')),
        at(0, hides(NOBODY)),
        at(50, reads('viewer', 'other'), watches('v1', 'other')),
      ),
    ),
  ))

test('[S2] what the backend chooses for somebody invisible takes effect no sooner', () =>
  expectEqual(
    slowly(
      historyFrom(
        1,
        at(150, opens('hidden', 'h1'), opens('viewer', 'v1'), watches('v1', 'hidden')),
        at(FORGOTTEN_MS, vanishes),
        at(200, decides('hidden', { last_seen_visibility: 'nobody' })),
      ),
      SLOW_MS,
    ),
  ))

test('[S2] nor does it take effect sooner when they have just chosen something themselves', () =>
  expectEqual(
    slowly(
      historyFrom(
        1,
        at(150, opens('hidden', 'h1'), opens('viewer', 'v1'), watches('v1', 'hidden')),
        at(500, vanishes),
        at(40, writes('hidden', 'At sea')),
        at(300, decides('hidden', { last_seen_visibility: 'nobody' })),
      ),
      SLOW_MS,
    ),
  ))

test('[S2] whoever goes invisible was last seen when they chose to, however late it takes effect', () =>
  expectEqual(
    slowly(
      historyFrom(
        2,
        at(500, opens('viewer', 'v1'), watches('v1', 'hidden')),
        at(10, opens('hidden', 'h1')),
        at(500, vanishes),
      ),
      SLOW_MS,
    ),
  ))

test('[S6] what others do is not done sooner in a turn in which somebody hidden does something', () =>
  expectEqual(
    history(
      at(0, hides(NOBODY)),
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden', 'other')),
      at(100, writes('other', 'At sea'), opens('hidden', 'h1'), watches('v1', 'hidden', 'other')),
    ),
  ))

test('[S6] a look waits for what others do in its turn, whether somebody hidden does something or not', () =>
  expectEqual(
    history(
      at(0, hides(NOBODY)),
      at(100, opens('viewer', 'v1'), opens('other', 'o1'), watches('v1', 'other')),
      at(100, opens('hidden', 'h1'), writes('other', 'At sea'), watches('v1', 'other')),
      at(100, opens('hidden', 'h2'), writes('other', 'On a train'), reads('viewer', 'other')),
    ),
  ))

test('[S6] whom somebody hidden has looked at is not found any sooner', () =>
  expectEqual(
    slowly(
      history(
        at(50, writes('other', 'At sea')),
        at(50, hides(NOBODY)),
        at(50, reads('hidden', 'other')),
        at(50, reads('viewer', 'other')),
      ),
    ),
  ))

test('[S2] nor is whom somebody invisible has looked at', () =>
  expectEqual(
    slowly(
      historyFrom(
        1,
        at(50, writes('other', 'At sea'), opens('hidden', 'h1')),
        at(50, vanishes),
        at(50, reads('hidden', 'other')),
        at(50, reads('viewer', 'other')),
      ),
    ),
  ))

test('[S6] nor is whom somebody has looked at who chose to hide before the server was restarted', () =>
  expectEqual(
    slowly(
      history(
        at(50, writes('other', 'At sea')),
        at(50, hides(NOBODY)),
        at(50, { does: 'restart', who: null }),
        at(50, reads('hidden', 'other')),
        at(50, reads('viewer', 'other')),
      ),
    ),
  ))

test('[S6] whom somebody hidden has looked at does not come any sooner', () =>
  expectEqual(
    slowly(
      history(
        at(500, opens('viewer', 'v1'), watches('v1', 'other')),
        at(500, opens('other', 'o1')),
        at(FORGOTTEN_MS, leaves('other', 'o1')),
        at(200, hides(NOBODY)),
        at(200, reads('hidden', 'other')),
        at(200, opens('other', 'o1')),
      ),
      SLOW_MS,
    ),
  ))

test('[S6] a watch of somebody hidden does not spare others the reading', () =>
  expectEqual(
    slowly(
      history(
        at(50, hides(NOBODY), opens('viewer', 'v1')),
        at(50, opens('hidden', 'h1')),
        at(50, watchesAs('hidden', 'h1', 'other')),
        at(50, watches('v1', 'other')),
      ),
    ),
  ))

test('[S6] watches of somebody hidden do not conceal one that spares others the reading', () =>
  expectEqual(
    slowly(
      history(
        at(50, hides(NOBODY), opens('viewer', 'v1'), opens('friend', 'f1')),
        at(50, watchesAs('friend', 'f1', 'other')),
        at(50, ...MANY_DEVICES.map((device) => opens('hidden', device))),
        // Until it is not remembered any more that the friend looked.
        at(61_000, ...MANY_DEVICES.map((device) => watchesAs('hidden', device, 'other'))),
        at(50, watches('v1', 'other')),
      ),
    ),
  ))

/** Somebody becomes invisible, does something, and then the viewer watches whom they may have watched. */
const expectNotSpared = (...secret: Step[]) =>
  expectEqual(
    slowly(
      historyFrom(
        1,
        at(50, opens('hidden', 'h1'), opens('viewer', 'v1')),
        at(200, vanishes),
        ...secret,
        at(50, watches('v1', 'other')),
      ),
    ),
  )

test('[S2] nor does a watch of somebody who became invisible, and is told so', () =>
  expectNotSpared(at(50, watchesAs('hidden', 'h1', 'other'))))

test('[S2] nor does a watch of somebody who was invisible when they came', () =>
  expectNotSpared(
    at(200, leaves('hidden', 'h1')),
    at(50, opens('hidden', 'h2')),
    at(50, watchesAs('hidden', 'h2', 'other')),
  ))

test('[S2] nor does a stream of somebody invisible, who is not here otherwise', () =>
  expectNotSpared(at(200, leaves('hidden', 'h1')), at(50, streams('hidden', 'other'))))
