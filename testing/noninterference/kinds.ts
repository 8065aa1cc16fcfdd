// The kinds of random histories, and what holds of each of them. Four ways to be hidden, each with an archive that
// answers at once and with one that takes its time.
import type fc from 'fast-check'
import type { Witnesses } from './compare.ts'
import { hiddenByChoice, hiddenByDefault, invisible, lostView, slowly } from './histories.ts'
import type { History } from './moves.ts'

export interface Kind {
  /** What holds. */
  title: string
  histories: fc.Arbitrary<History>
  /** Who sees `hidden` in some of them, which shows that there was something to see. */
  witness: keyof Witnesses
  mayViewerSee: boolean
}

const QUICK: readonly Kind[] = [
  {
    title: '[S6] a user who hides by their settings is not noticed',
    histories: hiddenByChoice,
    witness: 'friend',
    mayViewerSee: false,
  },
  {
    title: '[S6] a user who is hidden by the default visibility is not noticed',
    histories: hiddenByDefault,
    witness: 'friend',
    mayViewerSee: false,
  },
  {
    title: '[S2] an invisible user cannot be told from one who left',
    histories: invisible,
    witness: 'viewer',
    mayViewerSee: true,
  },
  {
    title: '[S6] a viewer who is no longer allowed to see a user is told nothing more of them',
    histories: lostView,
    witness: 'viewer',
    mayViewerSee: true,
  },
]

export const KINDS: readonly Kind[] = QUICK.flatMap((kind) => [
  kind,
  { ...kind, title: `${kind.title}, with a slow archive`, histories: slowly(kind.histories) },
])
