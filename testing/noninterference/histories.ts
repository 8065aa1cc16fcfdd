// Random histories in which the viewer may not see `hidden`, or not any more, while the secret lasts:
// that is what makes a difference a leak. What each user may see follows from how a history is put
// together, never from the evaluator that is to be tried.
import fc from 'fast-check'
import type { SettingsInput } from '../clients/server.ts'
import {
  alone,
  beginning,
  type Cast,
  chapter,
  guarded,
  manners,
  OPEN,
  passMs,
  runningOn,
  withErasure,
  withoutTheErased,
} from './chapters.ts'
import type { History, Move, Said, Step } from './moves.ts'
import {
  availabilities,
  company,
  decides,
  hidingSettings,
  lists,
  listsWithoutViewer,
  type Moves,
  openSettings,
  opens,
  privateLife,
  sets,
  soonOrNever,
  viewerChooses,
  viewerHides,
  viewing,
} from './user-moves.ts'

const { constant, constantFrom, oneof, record, array, boolean, subarray } = fc

const listedByViewer = subarray(['hidden', 'other', 'mutual'])
const listedByHidden = subarray(['friend', 'viewer'])
/** Hidden by what was chosen before they first came; in the other world they never came. */
export const hiddenByChoice: fc.Arbitrary<History> = boolean().chain((isViewerHiding) => {
  const viewerSettings = isViewerHiding ? viewerHides : viewerChooses
  const choices = hidingSettings(isViewerHiding)
  const secret = oneof(
    { weight: 8, arbitrary: privateLife() },
    { weight: 2, arbitrary: availabilities('online', 'away', 'busy', 'invisible') },
    { weight: 2, arbitrary: sets('hidden', 'settings', choices) },
    { weight: 1, arbitrary: listsWithoutViewer },
  )
  const looking = viewing(viewerSettings, listedByViewer)
  return record({
    settings: manners,
    own: viewerSettings,
    listed: listedByViewer,
    rest: chapter({ secret, looking, around: withErasure }, 8),
    choices: array(choices, { minLength: 3, maxLength: 3 }),
    isInSameTurn: boolean(),
  }).chain(({ settings, own, listed, rest, choices, isInSameTurn }) => {
    const viewerAgain = decides('viewer', own)
    const steps = guarded(rest, { choices, isInSameTurn, viewerAgain })
    return beginning([viewerAgain, lists(null, 'viewer', 'PUT', listed)]).map(
      (begin): History => ({ settings, steps: runningOn([...begin, ...steps]), secretFrom: 0 }),
    )
  })
})

/** Hidden by the server's default, chosen or not; in the other world they never came. */
export const hiddenByDefault: fc.Arbitrary<History> = record({
  settings: manners,
  default_visibility: constantFrom('nobody', 'contacts'),
  listed: listedByViewer,
  rest: chapter(
    {
      secret: oneof(
        { weight: 8, arbitrary: privateLife() },
        { weight: 2, arbitrary: availabilities('online', 'away', 'busy', 'invisible') },
        { weight: 1, arbitrary: sets('hidden', 'settings', hidingSettings(false)) },
        { weight: 2, arbitrary: listsWithoutViewer },
      ),
      looking: viewing(viewerChooses, listedByViewer),
      around: withErasure,
    },
    8,
  ),
}).chain(({ settings, default_visibility, listed, rest }) =>
  beginning([lists(null, 'viewer', 'PUT', listed)]).map(
    (begin): History => ({
      settings: { ...settings, default_visibility },
      steps: runningOn([...begin, ...rest]),
      secretFrom: 0,
    }),
  ),
)

const goesInvisible: Moves = record({
  does: constant('go invisible'),
  who: constant('hidden'),
  by: constantFrom('socket', 'self', 'backend'),
  expiresInMs: soonOrNever,
})

/** Invisible; in the other world they left at that moment and stay away. */
export const invisible: fc.Arbitrary<History> = constant(null).chain(() => {
  const looking = viewing(viewerChooses, listedByViewer)
  const visibly: Cast = {
    secret: oneof(
      { weight: 5, arbitrary: privateLife() },
      { weight: 1, arbitrary: availabilities('online', 'away', 'busy') },
    ),
    looking,
    around: company,
  }
  const invisibly: Cast = {
    secret: oneof({ weight: 6, arbitrary: privateLife() }, { weight: 1, arbitrary: goesInvisible }),
    looking,
    around: oneof(
      { weight: 6, arbitrary: withErasure },
      { weight: 1, arbitrary: openSettings.map((body) => decides('hidden', body)) },
      { weight: 1, arbitrary: listedByHidden.map((ids) => lists(null, 'hidden', 'PUT', ids)) },
    ),
  }
  return record({
    settings: manners,
    chosen: oneof({ weight: 2, arbitrary: constant({}) }, { weight: 1, arbitrary: openSettings }),
    listed: listedByViewer,
    before: chapter(visibly, 3),
    vanishing: goesInvisible,
    vanishedMs: passMs,
    after: chapter(invisibly, 6),
  }).chain(({ settings, chosen, listed, before, vanishing, vanishedMs, after }) =>
    beginning([lists(null, 'viewer', 'PUT', listed), decides('hidden', chosen)], [opens('hidden', 'h1')]).map(
      (begin): History => {
        // A goodbye is for what came before it, and in one millisecond nothing is before anything.
        const meanwhile: Step = { moves: [], passMs: 250 }
        const vanished: Step = { moves: [vanishing], passMs: vanishedMs }
        const rest = withoutTheErased(after)
        const steps = [...begin, ...before, meanwhile, vanished, ...rest]
        return { settings, steps: runningOn(steps), secretFrom: begin.length + before.length + 1 }
      },
    ),
  )
})

/**
 * A way in which a viewer may not see `hidden` any more: how it was before, the move that ends it, and what may come
 * after.
 */
interface Loss {
  settings?: SettingsInput
  before: readonly Move[]
  hiding: Moves
  /** What may be chosen after it that leaves them hidden. */
  choices: fc.Arbitrary<Said>
  viewerSettings: fc.Arbitrary<Said>
  listed: fc.Arbitrary<readonly string[]>
}

const RECIPROCAL = { ...OPEN, reciprocal: true, allow: [], deny: [] }
const listedWithoutHidden = subarray(['other', 'mutual'])

const LOSSES: readonly Loss[] = [
  // They choose to hide.
  {
    before: [],
    hiding: hidingSettings(false).map((body) => decides('hidden', body)),
    choices: hidingSettings(false),
    viewerSettings: viewerChooses,
    listed: listedByViewer,
  },
  // They show themselves to contacts, and the viewer is one no more.
  {
    before: [
      decides('hidden', { ...OPEN, status_visibility: 'contacts' }),
      lists(null, 'hidden', 'PUT', ['viewer', 'friend']),
    ],
    hiding: constantFrom(
      lists(null, 'hidden', 'DELETE', ['viewer']),
      lists(null, 'hidden', 'PUT', ['friend']),
    ),
    choices: hidingSettings(false),
    viewerSettings: viewerChooses,
    listed: listedByViewer,
  },
  // The same by the server's default, without anything chosen.
  {
    settings: { default_visibility: 'contacts' },
    before: [lists(null, 'hidden', 'PUT', ['viewer', 'friend'])],
    hiding: constant(lists(null, 'hidden', 'DELETE', ['viewer'])),
    choices: hidingSettings(false),
    viewerSettings: viewerChooses,
    listed: listedByViewer,
  },
  // They are reciprocal, and the viewer hides.
  {
    before: [decides('hidden', RECIPROCAL), decides('viewer', OPEN)],
    hiding: viewerHides.map((body) => decides('viewer', body)),
    choices: hidingSettings(true),
    viewerSettings: viewerHides,
    listed: listedByViewer,
  },
  // The same, and the viewer hides by striking them from the list of those they show themselves to.
  {
    before: [
      decides('hidden', RECIPROCAL),
      decides('viewer', { ...OPEN, status_visibility: 'contacts' }),
      lists(null, 'viewer', 'PUT', ['hidden', 'other', 'mutual']),
    ],
    hiding: constantFrom(
      lists(null, 'viewer', 'DELETE', ['hidden']),
      lists(null, 'viewer', 'PUT', ['other', 'mutual']),
    ),
    choices: hidingSettings(true),
    viewerSettings: viewerHides,
    listed: listedWithoutHidden,
  },
]

/** The viewer is no longer allowed to see them; in the other world they do nothing from then on. */
export const lostView: fc.Arbitrary<History> = constantFrom(...LOSSES).chain((loss) =>
  record({
    settings: manners,
    before: chapter(
      {
        secret: oneof(
          { weight: 5, arbitrary: privateLife() },
          { weight: 1, arbitrary: availabilities('online', 'away', 'busy') },
        ),
        // They must not lose it any sooner.
        looking: viewing(constant({}), constant(['hidden', 'other', 'mutual'])),
        around: company,
      },
      3,
    ),
    hiding: loss.hiding,
    after: chapter(
      {
        secret: oneof(
          { weight: 8, arbitrary: privateLife() },
          { weight: 2, arbitrary: availabilities('online', 'away', 'busy', 'invisible') },
          { weight: 1, arbitrary: sets('hidden', 'settings', loss.choices) },
          { weight: 1, arbitrary: listsWithoutViewer },
        ),
        looking: viewing(loss.viewerSettings, loss.listed),
        around: withErasure,
      },
      6,
    ),
  }).chain(({ settings, before, hiding, after }) =>
    beginning(loss.before, [opens('hidden', 'h1')]).map(
      (begin): History => ({
        settings: { ...settings, ...loss.settings },
        steps: runningOn([...begin, ...before, alone(hiding), ...withoutTheErased(after)]),
        secretFrom: begin.length + before.length + 1,
      }),
    ),
  ),
)

/** How long a slow archive takes to answer: less than a flush interval, or more. */
const ARCHIVE_MS = [5, 70]

/** The same with an archive that takes its time. */
export const slowly = (histories: fc.Arbitrary<History>): fc.Arbitrary<History> =>
  record({ history: histories, archiveMs: constantFrom(...ARCHIVE_MS) }).map(({ history, archiveMs }) => ({
    ...history,
    archiveMs,
  }))
