// The checks that keep hidden people hidden, each with an edit that takes it away. The text of an edit
// must be in the source exactly once, so that a check that moves or changes is noticed here.
import { type Mutation, mutation, rare } from './mutation.ts'
import { MASKING } from './mutation-list-masking.ts'
import { OTHERS } from './mutation-list-others.ts'
import { TIMING } from './mutation-list-timing.ts'

const evaluator: readonly Mutation[] = [
  mutation(
    'whoever is denied is not',
    'presence/visibility.ts',
    'viewer === null ? deny.length > 0 : isListed(deny, viewer.userId)',
    'viewer === null && deny.length > 0',
  ),
  mutation(
    'nobody in particular is never denied',
    'presence/visibility.ts',
    'viewer === null ? deny.length > 0 : isListed(deny, viewer.userId)',
    'viewer !== null && isListed(deny, viewer.userId)',
  ),
  mutation(
    'being allowed wins over being denied',
    'presence/visibility.ts',
    ': isListed(deny, viewer.userId))',
    ': isListed(deny, viewer.userId) && !isListed(allow, viewer.userId))',
  ),
  mutation(
    'nobody means everyone',
    'presence/visibility.ts',
    "return { isVisible: false, rule: 'nobody' }",
    "return { isVisible: true, rule: 'everyone' }",
  ),
  mutation('contacts means everyone', 'presence/visibility.ts', 'return isContact ?', 'return true ?'),
  mutation(
    'reciprocity is not looked at',
    'presence/visibility.ts',
    'target.privacy?.reciprocal !== true) return shown',
    'true) return shown',
  ),
  mutation(
    'the default audience is everyone',
    'presence/visibility.ts',
    'chosen ?? rules.defaultVisibility',
    "chosen ?? 'everyone'",
  ),
  mutation(
    'who chose nothing is open to all',
    'presence/visibility.ts',
    "if (privacy === null) return rules.defaultVisibility === 'everyone'",
    'if (privacy === null) return true',
  ),
  mutation(
    'to see nothing is to see everything',
    'presence/as-seen.ts',
    "case 'nothing':\n      return unknownPresence(presence.user_id, rules.hiddenAs)",
    "case 'nothing':\n      return presence",
  ),
  mutation(
    'an old edition of a contact list is as good as the new one',
    'presence/relations.ts',
    'known.contactsAt === question.contactsAt && ',
    '',
  ),
]

const pushing: readonly Mutation[] = [
  mutation(
    'a change is marked for those who see nothing',
    'gateway/outbox.ts',
    'else if (!isNothingSeen(flags)) markEdge(edge)',
    'else markEdge(edge)',
  ),
  rare(
    mutation(
      'a change is marked while it is in doubt',
      'gateway/outbox.ts',
      'else if (isInDoubt(flags)) index.setFlags(edge, flags | HELD_BACK)',
      'else if (isInDoubt(flags)) markEdge(edge)',
    ),
  ),
  mutation(
    'what is in doubt is told when its turn comes',
    'gateway/outbox.ts',
    'if (isInDoubt(flags)) index.setFlags(edge, flags | HELD_BACK)\n      else {',
    '{',
  ),
  mutation(
    'what is in doubt is seen whole',
    'gateway/edge-flags.ts',
    '(flags & (SIGHT_MASK | IN_DOUBT)) === 0',
    '(flags & SIGHT_MASK) === 0',
  ),
  mutation(
    'a frame of many changes is not masked',
    'gateway/outbox.ts',
    'isWholeSeen(flags) ? targets.json(target) : targets.seen(target, sightOf(flags))',
    'targets.json(target)',
  ),
  mutation(
    'a frame of one change is not masked',
    'gateway/outbox.ts',
    'index.nextMarked(edge) === NIL && isWholeSeen(index.flags(edge))',
    'index.nextMarked(edge) === NIL',
  ),
  mutation(
    'a change does not say who may see it',
    'presence/announcer.ts',
    'const discretion = discretionOf(after)\n    const change',
    'const discretion = null\n    const change',
  ),
  mutation(
    'a change is taken without who may see it',
    'gateway/watches.ts',
    'if (discretion !== null && discretions.learn(target, discretion)) sights.review(target)\n',
    '\n',
  ),
  mutation(
    'whoever is erased is told to those who saw nothing',
    'gateway/watches.ts',
    `      if (isHeld && targets.update(target, version, json, at) && wasKnown) outbox.markTarget(target)
      if (discretions.replace(target, UNGUARDED)) sights.review(target)`,
    `      if (discretions.replace(target, UNGUARDED)) sights.review(target)
      if (isHeld && targets.update(target, version, json, at) && wasKnown) outbox.markTarget(target)`,
  ),
  mutation(
    'every decision is told, changed or not',
    'gateway/sights.ts',
    'if (wasHeldBack || isDifferent) outbox.markEdge(edge)',
    'outbox.markEdge(edge)',
  ),
  mutation(
    'whoever sees nothing comes into doubt like everybody else',
    'gateway/sights.ts',
    'if (isInDoubt(flags) || isNothingSeen(flags)) return',
    'if (isInDoubt(flags)) return',
  ),
  mutation(
    'whoever knows nothing comes into doubt like everybody else',
    'gateway/sights.ts',
    "isInTheDark ? withSight(flags, 'nothing') : flags | IN_DOUBT",
    'flags | IN_DOUBT',
  ),
  rare(
    mutation(
      'the order of changes tells the order of marks',
      'gateway/outbox.ts',
      "changes.sort().join(',')",
      "changes.join(',')",
    ),
  ),
  mutation(
    'who queues up in the moment of a turn has it when others wait',
    'gateway/phases.ts',
    'queue.sealedAt === present ? queue.sealed : queue.length',
    'queue.length',
  ),
  rare(
    mutation(
      'the second round of an erasure empties lists that were written since',
      'presence/eraser.ts',
      'await archive.eraseRows(mark.userId)',
      'await archive.erase(mark.userId)',
    ),
  ),
  rare(
    mutation(
      'what was missed is not told to those who see nothing any more',
      'gateway/sights.ts',
      'const wasHeldBack = (flags & HELD_BACK) !== 0',
      "const wasHeldBack = (flags & HELD_BACK) !== 0 && sight !== 'nothing'",
    ),
  ),
  mutation(
    'what a viewer shows in return is not looked at again',
    'gateway/sights.ts',
    'if (discretions.of(index.targetOf(edge)).privacy?.reciprocal === true) reviewEdge(edge)',
    '',
  ),
  mutation(
    'what a viewer chooses is not looked at again',
    'gateway/inbox.ts',
    'if (discretions.learn(user, discretion)) sights.review(user)',
    'discretions.learn(user, discretion)',
  ),
]

const watching: readonly Mutation[] = [
  mutation(
    'a snapshot is not masked',
    'gateway/watches.ts',
    'const json = targets.seen(target, sightOf(flags))\n          if (!isKnown',
    'const json = targets.json(target)\n          if (!isKnown',
  ),
  mutation(
    'a snapshot is decided by nothing that was read for it',
    'gateway/watches.ts',
    'if (discretions.learn(target, { privacy, contactsAt })) sights.review(target)',
    '',
  ),
  mutation(
    'a snapshot is made by a decision that is out of date',
    'gateway/sights.ts',
    'if (isOutdated(decision, viewerOf(index.connectionOf(edge)), target)) {',
    'if (false) {',
  ),
  mutation(
    'the ids of a stream hold versions that are hidden',
    'gateway/watches.ts',
    'return isNothingKnown(json) ? 0 : targets.version(target)',
    'return targets.version(target)',
  ),
  mutation(
    'a version that was known is honoured for those who are hidden now',
    'gateway/watches.ts',
    'if (isNothingKnown(json)) return known[userId] === 0',
    '',
  ),
  {
    name: 'a version that was known is honoured whatever privacy there is',
    file: 'gateway/watches.ts',
    edits: [
      { from: 'if (isNothingKnown(json)) return known[userId] === 0', to: '' },
      { from: ' && discretions.of(target).privacy === null', to: '' },
    ],
  },
]

const answering: readonly Mutation[] = [
  mutation(
    'queries are answered without sights',
    'presence/seen-by.ts',
    'sights[guarded[position]!] = visibleTo(target, viewer, relation, rules).sight',
    '',
  ),
  mutation(
    'queries do not look at what the viewer shows',
    'presence/seen-by.ts',
    'const { records } = await reader.readOwn(eyes.userId)',
    'const records: null[] = []',
  ),
  mutation(
    'the public page has the eyes of the app',
    'gateway/http/public-routes.ts',
    "seenBy.look({ of: 'anyone' }",
    "seenBy.look({ of: 'app' }",
  ),
  mutation(
    'users look through the eyes of others',
    'gateway/http/presence-routes.ts',
    "  if (viewerId === undefined) return { ok: true, value: { of: 'user', userId: caller.userId } }",
    "  if (viewerId !== null) return { ok: true, value: { of: 'user', userId: viewerId ?? caller.userId } }",
  ),
  mutation(
    'the source of a hidden person is where they are',
    'presence/seen-by.ts',
    "rules.hiddenAs), source: 'db' }",
    "rules.hiddenAs), source: record === null ? 'db' : sourceOf(record) }",
  ),
]

export const MUTATIONS: readonly Mutation[] = [
  ...evaluator,
  ...pushing,
  ...watching,
  ...answering,
  ...MASKING,
  ...TIMING,
  ...OTHERS,
]
