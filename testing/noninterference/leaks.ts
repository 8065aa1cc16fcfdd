// Ways in which a hidden user could be noticed by what a viewer is told of them, each as a small history. Most were
// found by random histories.
import { LEAKS_THROUGH_OTHERS } from './leaks-through-others.ts'
import type { History, Move, Said, Step } from './moves.ts'
import {
  at,
  CONTACTS,
  HIDDEN_STATUS,
  hides,
  history,
  historyFrom,
  type Leak,
  leaves,
  midway,
  reads,
  readsPublicly,
  restarts,
  slowly,
  streams,
  subscribes,
  under,
  vanishes,
  watches,
  writes,
} from './small-histories.ts'
import { call, callByGrpc, decides, erasesHidden, lists, opens } from './user-moves.ts'

/** The viewer looks in every way before `hidden` comes, while they are here, and after they left. */
const underEveryLook = (...before: Step[]): History =>
  under(
    { poll_burst: 1_000 },
    history(
      ...before,
      at(50, opens('viewer', 'v1')),
      at(50, watches('v1', 'hidden')),
      at(50, streams('viewer', 'hidden')),
      at(50, subscribes('viewer', 'hidden')),
      at(50, opens('hidden', 'h1')),
      at(50, writes('hidden', 'At sea')),
      at(50, ...queries),
      at(6_000, watches('v1', 'hidden')),
      at(50, leaves('hidden', 'h1')),
      at(50, ...queries),
      at(50, restarts),
      at(50, opens('viewer', 'v1')),
      at(50, watches('v1', 'hidden')),
      at(50, ...queries),
    ),
  )
const queries: readonly Move[] = [
  reads('viewer', 'hidden'),
  readsPublicly('hidden'),
  call('viewer', 'self', 'GET', '/api/v1/presence?user_ids=hidden,other'),
  call('viewer', 'self', 'GET', '/presence/batch?user_ids=hidden,other'),
  call('viewer', 'self', 'GET', '/api/v1/presence/hidden?viewer_id=hidden'),
  callByGrpc('viewer', 'GetPresence', { user_ids: ['hidden', 'other'] }),
  callByGrpc('viewer', 'GetPresence', { user_ids: ['hidden'], viewer_id: 'hidden' }),
]

const OPEN = { status_visibility: 'everyone', last_seen_visibility: 'everyone' }
const hidingBy: readonly [how: string, body: Said, viewer?: Said][] = [
  ['showing their status to no user', HIDDEN_STATUS],
  ['showing their status to no user and their last seen to all', { ...OPEN, ...HIDDEN_STATUS }],
  ['showing their status to contacts', CONTACTS],
  ['denying the viewer', { ...OPEN, deny: ['viewer'] }],
  ['denying the viewer, who is allowed as well', { ...OPEN, allow: ['viewer'], deny: ['viewer'] }],
  ['reciprocity, from a viewer who hides', { ...OPEN, reciprocal: true }, HIDDEN_STATUS],
  ['reciprocity, from a viewer who denies them', { ...OPEN, reciprocal: true }, { deny: ['hidden'] }],
]

const hiding: readonly Leak[] = [
  ...hidingBy.map(([how, body, viewer = {}]) => ({
    title: `[S5, S6] a user who hides by ${how} is not noticed`,
    history: underEveryLook(at(50, decides('viewer', viewer)), at(50, hides(body))),
  })),
  ...['nobody', 'contacts'].map((audience) => ({
    title: `[S5, S6] a user who chose nothing is not noticed where the default visibility is ${audience}`,
    history: under({ default_visibility: audience, poll_burst: 1_000 }, underEveryLook()),
  })),
  {
    title: '[S6] a user who hides and connects in one turn is not noticed',
    history: history(
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden')),
      at(100, hides(CONTACTS), opens('hidden', 'h1')),
    ),
  },
  {
    title: '[S6, X6] the erasure of a hidden user is not noticed',
    history: history(
      at(50, opens('viewer', 'v1'), watches('v1', 'hidden')),
      at(50, hides(HIDDEN_STATUS)),
      at(50, opens('hidden', 'h1')),
      at(50, erasesHidden),
    ),
  },
  {
    title: '[S6, X6] a choice soon after an erasure outlives the second round of the erasure and a restart',
    history: history(
      at(100, erasesHidden),
      at(11_000, hides(HIDDEN_STATUS)),
      at(100, restarts),
      at(100, opens('hidden', 'h1'), opens('viewer', 'v1'), watches('v1', 'hidden')),
    ),
  },
]

const SEEN: Step = at(1_000, opens('viewer', 'v1'), opens('hidden', 'h1'), watches('v1', 'hidden'))

const lossOfView: readonly Leak[] = [
  {
    title: '[S6] nothing is told while contacts are looked up, not even a change that waits for its flush',
    history: slowly(
      historyFrom(
        3,
        SEEN,
        midway(5, writes('hidden', 'On a train')),
        midway(5, decides('hidden', CONTACTS)),
        at(200, writes('hidden', 'At sea')),
      ),
      100,
    ),
  },
  {
    title: '[S6] a repeated watch is answered while contacts are looked up',
    history: history(
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden')),
      at(100, hides(CONTACTS), watches('v1', 'hidden')),
    ),
  },
  {
    title: '[S6] a viewer who may no longer see a user is told so once, whatever is chosen next',
    history: slowly(
      historyFrom(
        2,
        SEEN,
        midway(45, decides('hidden', CONTACTS)),
        at(100, hides({ ...CONTACTS, last_seen_precision: 'approximate' })),
      ),
      60,
    ),
  },
  {
    title: '[S6] a viewer who may no longer see a user is told so without what is said meanwhile',
    history: slowly(
      historyFrom(2, SEEN, midway(10, decides('hidden', CONTACTS)), at(400, writes('hidden', 'At sea'))),
      45,
    ),
  },
  {
    title:
      '[S6] a viewer who may no longer see a user is told so, even if what they saw is cleared meanwhile',
    history: slowly(
      historyFrom(
        3,
        at(300, writes('hidden', 'At sea')),
        at(500, opens('viewer', 'v1'), watches('v1', 'hidden')),
        midway(50, decides('hidden', CONTACTS)),
        at(400, writes('hidden', null)),
      ),
      100,
    ),
  },
  {
    title: '[S6] a user who hides while a watch is under way is not in its snapshot',
    history: slowly(
      historyFrom(
        4,
        at(500, decides('mutual', CONTACTS)),
        at(500, opens('hidden', 'h1'), opens('viewer', 'v1')),
        // Because of one of them the other has to wait.
        midway(50, watches('v1', 'hidden', 'mutual')),
        midway(5, decides('hidden', HIDDEN_STATUS)),
        at(200, writes('hidden', 'At sea')),
      ),
      100,
    ),
  },
  {
    title:
      '[S6] a version from before the viewer was no longer allowed to see the user is not known after it',
    history: historyFrom(
      3,
      SEEN,
      at(50, { does: 'hang up', who: 'viewer', device: 'v1' }),
      at(50, decides('hidden', HIDDEN_STATUS)),
      at(50, writes('hidden', 'At sea')),
      at(50, opens('viewer', 'v1')),
      at(50, { does: 'watch', who: 'viewer', device: 'v1', userIds: ['hidden'], known: 'shown' }),
    ),
  },
  {
    title: '[S6] a viewer who is no contact any more is told so and nothing after it',
    history: historyFrom(
      4,
      at(50, decides('hidden', CONTACTS), lists(null, 'hidden', 'PUT', ['viewer'])),
      SEEN,
      at(50, streams('viewer', 'hidden')),
      midway(0, lists(null, 'hidden', 'DELETE', ['viewer'])),
      at(50, writes('hidden', 'At sea')),
      at(50, reads('viewer', 'hidden')),
    ),
  },
  {
    title: '[S6] a viewer who hides may not see a reciprocal user any more and is told nothing after it',
    history: historyFrom(
      3,
      at(50, decides('hidden', { ...OPEN, reciprocal: true })),
      SEEN,
      at(50, decides('viewer', HIDDEN_STATUS)),
      at(50, writes('hidden', 'At sea')),
      at(50, reads('viewer', 'hidden')),
    ),
  },
]

const invisible: readonly Leak[] = [
  {
    title: '[S2] an invisible user is answered from the database, like one who left',
    history: historyFrom(
      1,
      at(50, opens('hidden', 'h1')),
      at(310_000, vanishes),
      at(50, opens('hidden', 'h2')),
      at(50, reads('viewer', 'hidden')),
      at(70_000, reads('viewer', 'hidden')),
      at(50, reads('viewer', 'hidden')),
    ),
  },
  {
    title: '[S2] a custom status expires while its user is invisible, whether they are active or not',
    history: historyFrom(
      3,
      at(100, opens('viewer', 'v1'), watches('v1', 'hidden')),
      at(0, opens('hidden', 'h1')),
      at(50, writes('hidden', 'At sea', 1_000)),
      at(50, vanishes),
      at(3_000, opens('hidden', 'h2')),
    ),
  },
  {
    title: '[S2] an invisible user was last seen when they chose to be, however late it takes effect',
    history: slowly(
      historyFrom(
        2,
        at(500, opens('viewer', 'v1'), watches('v1', 'hidden')),
        // A choice holds once it is answered, so the arrival before it is seen.
        at(500, opens('hidden', 'h1')),
        at(500, vanishes),
      ),
      60,
    ),
  },
  {
    title: '[S2] nothing an invisible user does is noticed, also after a restart',
    history: historyFrom(
      1,
      SEEN,
      at(3_000, vanishes),
      at(50, opens('hidden', 'h2')),
      at(50, writes('hidden', 'At sea')),
      at(50, reads('viewer', 'hidden')),
      at(50, restarts),
      at(50, opens('viewer', 'v1')),
      at(50, watches('v1', 'hidden')),
      at(50, opens('hidden', 'h1')),
      at(50, leaves('hidden', 'h1')),
      at(50, reads('viewer', 'hidden')),
    ),
  },
]

export const LEAKS: readonly Leak[] = [...hiding, ...lossOfView, ...invisible, ...LEAKS_THROUGH_OTHERS]
