// Ways in which a hidden user could be noticed by what they do to others: by the order in which others are told, by
// room in an audience, by what others may ask. Each is a small history.
import type { History, Step } from './moves.ts'
import {
  at,
  CONTACTS,
  erases,
  HIDDEN_STATUS,
  hides,
  history,
  historyFrom,
  type Leak,
  leaves,
  midway,
  reads,
  silent,
  slowly,
  under,
  vanishes,
  watches,
  watchesAs,
  writes,
} from './small-histories.ts'
import { call, decides, erasesHidden, lists, opens } from './user-moves.ts'

const order: readonly Leak[] = [
  {
    title:
      '[S6] changes in one frame are in the same order, whether a hidden user was connected before or not',
    history: under(
      { offline_delay_ms: 0 },
      history(
        at(0, hides(HIDDEN_STATUS)),
        at(50, opens('viewer', 'v1'), watches('v1', 'other', 'mutual')),
        at(50, opens('hidden', 'h1')),
        at(50, silent('other', 'o1')),
        at(0, { does: 'hang up', who: 'hidden', device: 'h1' }),
        // Takes the row that became free, and is found silent before the other one.
        at(15_000, silent('mutual', 'm1')),
      ),
    ),
  },
  {
    title: '[S6] users with the same deadline change in the same order, whether a hidden user is due or not',
    history: history(
      at(0, hides(HIDDEN_STATUS)),
      at(50, opens('viewer', 'v1'), watches('v1', 'other', 'mutual', 'friend')),
      at(0, hides({ deny: ['viewer'] }), writes('hidden', 'At sea', 1_000)),
      at(5_000, ...(['other', 'mutual', 'friend'] as const).map((who) => writes(who, 'At sea', 3_000))),
    ),
  },
  {
    title: '[S6] changes of one turn are told in the same order, whether a hidden user acts in it or not',
    history: history(
      at(0, hides(HIDDEN_STATUS)),
      at(50, opens('viewer', 'v1'), watches('v1', 'other', 'mutual')),
      at(50, writes('other', 'One'), opens('hidden', 'h1'), writes('mutual', 'One')),
      at(50, leaves('hidden', 'h1'), writes('mutual', 'Two'), writes('other', 'Two')),
    ),
  },
]

/** Where one may watch, a second one is told that no changes will follow. */
const FULL_WITH_ONE = { polled_above: 1 }

const roomFor = (secretFrom: number, ...steps: Step[]): History =>
  under(
    FULL_WITH_ONE,
    historyFrom(
      secretFrom,
      at(250, opens('viewer', 'v1'), opens('other', 'o1'), opens('hidden', 'h1')),
      at(250, watchesAs('hidden', 'h1', 'other')),
      ...steps,
      at(50, watches('v1', 'other')),
    ),
  )

const throughOthers: readonly Leak[] = [
  {
    title: '[S6] a hidden user who watches leaves room for others in an audience that has a limit',
    history: under(
      FULL_WITH_ONE,
      history(
        at(50, hides(HIDDEN_STATUS), opens('other', 'o1'), opens('viewer', 'v1')),
        at(50, opens('hidden', 'h1')),
        at(50, watchesAs('hidden', 'h1', 'other')),
        at(50, watches('v1', 'other')),
      ),
    ),
  },
  {
    title: '[S2] a user who becomes invisible while they watch leaves room for others',
    history: roomFor(2, at(250, vanishes)),
  },
  {
    title: '[S6] a user who hides while they watch leaves room for others, and no more by leaving',
    history: roomFor(3, at(250, decides('hidden', HIDDEN_STATUS)), at(250, leaves('hidden', 'h1'))),
  },
  {
    title: '[S6] the watch of a hidden user does not spare others a change from nothing to nothing',
    history: history(
      at(50, hides(HIDDEN_STATUS), opens('viewer', 'v1')),
      at(50, opens('hidden', 'h1')),
      at(50, watchesAs('hidden', 'h1', 'other')),
      // It expires, and then there is a version but nothing to show.
      at(10_000, writes('other', 'At sea', 3_000)),
      at(100, watches('v1', 'other')),
      at(100, lists(null, 'other', 'PUT', ['friend'])),
    ),
  },
  {
    title:
      '[S6, X6] a user who is erased while others read them is not shown, whether a hidden user watches or not',
    history: slowly(
      history(
        at(50, hides(HIDDEN_STATUS), opens('viewer', 'v1')),
        at(310_000, writes('other', 'At sea')),
        at(500, opens('hidden', 'h1')),
        at(500, watchesAs('hidden', 'h1', 'other')),
        at(61_000, watches('v1', 'other')),
        midway(20, reads('friend', 'other')),
        at(60_000, erases('other')),
      ),
      60,
    ),
  },
  {
    title: '[S6, X6] the second round of an erasure leaves alone what was written since',
    history: history(
      at(100, opens('viewer', 'v1')),
      at(100, erasesHidden),
      at(0, lists(null, 'viewer', 'PUT', ['hidden'])),
      at(0, hides(HIDDEN_STATUS)),
      at(11_000, opens('hidden', 'h1')),
      at(100, { does: 'say', who: 'viewer', device: 'v1', frame: { type: 'watch_contacts' } }),
    ),
  },
  {
    title: '[S6, R6] what a contact is answered of a user is not answered to others',
    history: history(
      at(0, hides(CONTACTS)),
      at(50, lists('hidden', 'hidden', 'PUT', ['friend'])),
      at(50, opens('hidden', 'h1')),
      at(50, reads('friend', 'hidden')),
      at(50, reads('viewer', 'hidden')),
    ),
  },
  {
    title: '[S6, R5] the queries of a hidden user take nothing from what others may ask',
    history: under(
      { poll_burst: 2 },
      history(
        at(0, hides(HIDDEN_STATUS)),
        at(50, reads('hidden', 'other'), reads('hidden', 'mutual')),
        at(50, reads('viewer', 'other')),
        at(50, reads('viewer', 'other')),
        at(50, reads('viewer', 'other')),
      ),
    ),
  },
  {
    title: '[S6, W9] the versions of others do not count the changes of a hidden user',
    history: history(
      at(0, hides(HIDDEN_STATUS)),
      at(50, opens('viewer', 'v1'), watches('v1', 'other')),
      at(50, opens('hidden', 'h1')),
      at(50, writes('hidden', 'At sea')),
      at(50, opens('other', 'o1')),
      at(50, reads('viewer', 'other')),
    ),
  },
  {
    title: '[S6] a list that names a hidden user looks the same whether they are here or not',
    history: history(
      at(0, hides(HIDDEN_STATUS)),
      at(50, lists(null, 'viewer', 'PUT', ['hidden', 'other'])),
      at(50, opens('viewer', 'v1'), opens('other', 'o1')),
      at(50, { does: 'say', who: 'viewer', device: 'v1', frame: { type: 'watch_contacts' } }),
      at(50, opens('hidden', 'h1')),
      at(50, call('viewer', 'self', 'GET', '/api/v1/presence?user_ids=hidden,other')),
      at(50, call('viewer', 'self', 'GET', '/presence/batch?user_ids=hidden,other')),
    ),
  },
]

export const LEAKS_THROUGH_OTHERS: readonly Leak[] = [...order, ...throughOthers]
