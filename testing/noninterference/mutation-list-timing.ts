// The checks that keep the time of an answer from telling anything: what is asked for the sake of those
// who are asked about in vain, and what is not remembered.
import { type Mutation, mutation, rare } from './mutation.ts'

export const TIMING: readonly Mutation[] = [
  mutation(
    'whoever shows nothing is decided about at once',
    'gateway/sights.ts',
    'if (unseen === undefined && decisions.every((decision) => decision !== null)) return decisions',
    'if (decisions.every((decision) => decision !== null)) return decisions',
  ),
  mutation(
    'of whoever shows nothing nothing is asked before they are watched',
    'gateway/sights.ts',
    "decisions[at]?.sight === 'nothing' || isShowingNothing(target)",
    "decisions[at]?.sight === 'nothing'",
  ),
  mutation(
    'of whoever is hidden anyway nothing is asked',
    'presence/relations.ts',
    'questions.push(pretended(target.userId, viewer.userId))',
    'null',
  ),
  mutation(
    'of nobody at all nothing is asked',
    'presence/seen-by.ts',
    'nobody === -1 ? null : userIds[nobody]!',
    'null',
  ),
  mutation(
    'nobody at all does without what the viewer shows',
    'presence/seen-by.ts',
    'if (guarded.length === 0 && nobody === -1) return sights',
    'if (guarded.length === 0) return sights',
  ),
  mutation(
    'only those are looked up whom the hot store does not have',
    'presence/recent-looks.ts',
    'if (look === undefined || look.until <= now) return true',
    'if (look === undefined || look.until <= now) return hot === null',
  ),
  mutation(
    'people who are away and hot are not looked up',
    'presence/recent-looks.ts',
    "hot !== null && hot.shown.status !== 'offline' && isOpenToAll",
    'hot !== null && isOpenToAll',
  ),
  mutation(
    'people who are here and hide are not looked up',
    'presence/recent-looks.ts',
    "hot.shown.status !== 'offline' && isOpenToAll(hot.privacy, rules)",
    "hot.shown.status !== 'offline'",
  ),
  mutation(
    'nobody at all is looked up every time',
    'presence/recent-looks.ts',
    'hot === null && look.record === undefined',
    'hot === null',
  ),
  rare(
    mutation(
      'whoever was erased is looked up again',
      'presence/recent-looks.ts',
      'look.record = null',
      'look.record = undefined',
    ),
  ),
  rare(
    mutation(
      'to read what is their own is to be looked at',
      'presence/reader.ts',
      'readBy(store.load, [userId], ownLooks)',
      'readBy(store.load, [userId], looks)',
    ),
  ),
  mutation(
    'whoever watches is known to those who watch them',
    'gateway/watches.ts',
    '!targets.isKnown(target) || !openness.isOpenlyWatched(target)',
    '!targets.isKnown(target)',
  ),
  rare(
    mutation(
      'what people show while they are away ends at the next round',
      'store/expiries.ts',
      "if (shown.status !== 'offline') return null",
      'if (shown !== null) return null',
    ),
  ),
]
