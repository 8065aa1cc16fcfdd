// After everything is quiet, all watchers and all servers show the same, and it is true. Where the answers leave open
// what a user chose, any combination will do that explains what all of them show.
import { isAdmitted, possibleChoices } from '../history/possible-choices.ts'
import type { Shown, Truth } from '../history/truth.ts'
import type { Violation } from './violation.ts'

/** The first thing shown of this target that no combination of its possible choices explains. */
export function disagreement(truth: Truth, shown: readonly Shown[], now: number): Violation | null {
  const { target } = truth
  const valuesOf = (field: 'availability' | 'text' | 'visibility') => [
    ...possibleChoices(target, field, now, now),
  ]
  let best: { wrong: Shown; expected: string; right: number } | null = null
  for (const visibility of valuesOf('visibility')) {
    for (const availability of valuesOf('availability')) {
      for (const text of valuesOf('text')) {
        const expected = (viewer: string) =>
          isAdmitted(target, viewer, visibility) ? open(truth, availability, text) : HIDDEN
        const right = shown.findIndex((one) => !isAs(one, expected(one.viewer)))
        if (right === -1) return null
        const wrong = shown[right]!
        if (best === null || right > best.right)
          best = { wrong, expected: describe(expected(wrong.viewer)), right }
      }
    }
  }
  if (best === null) return null
  const { wrong, expected } = best
  const what = `${wrong.by} shows ${wrong.viewer} ${target.id} as ${describe(wrong)} (version ${wrong.version}); true is ${expected}`
  return { check: 'agreement', at: now, target: target.id, viewer: wrong.viewer, what }
}

/** A text of null is not compared: what an invisible user showed last stays. */
interface Expected {
  status: string
  text: string | null
}

const HIDDEN: Expected = { status: 'offline', text: '' }

function open({ isPresent, isActive }: Truth, availability: string, text: string): Expected {
  if (availability === 'invisible') return { status: 'offline', text: null }
  if (!isPresent) return { status: 'offline', text }
  if (availability === 'busy' || availability === 'away') return { status: availability, text }
  return { status: isActive ? 'online' : 'away', text }
}

const isAs = (shown: Shown, { status, text }: Expected): boolean =>
  shown.status === status &&
  (text === null || (shown.text ?? '') === text) &&
  shown.deviceCount > 0 === (status !== 'offline')

const describe = ({ status, text }: { status: string | null; text: string | null }): string =>
  `${status}${text === null ? '' : ` "${text}"`}`
