// Decides what a viewer may see of a target from the inputs known here: at once where no contact list has
// to be asked, otherwise after a look-up. A decision remembers the inputs it was made from, so that one
// which was overtaken by a change of privacy is noticed.
import { PRIVACY_UNKNOWN, UNRESTRICTED, type VisibilityInputs } from '../../presence/core/privacy.ts'
import type { Evaluator } from '../../presence/privacy/evaluator.ts'
import { type Party, type Relations, STRANGERS } from '../../presence/privacy/relations.ts'
import type { ViewLevel } from '../../presence/privacy/visibility.ts'
import type { Interner } from '../interner.ts'
import type { InputTable } from './visibility-inputs.ts'

export interface Decision {
  level: ViewLevel
  targetInputs: VisibilityInputs
  viewerInputs: VisibilityInputs
  /** The contact list could not be asked: the viewer counts as a stranger until it can. */
  isGuess: boolean
}

export interface LevelDecisions {
  /** Null when a contact list has to be asked. */
  decideAtOnce(viewer: number, target: number): Decision | null
  /** All decisions of one watch; a promise only where a contact list has to be asked. In their order. */
  decideMany(viewer: number, targets: readonly number[]): Decision[] | Promise<Decision[]>
  /** Asked together with all other look-ups of this turn of the loop. */
  decide(viewer: number, target: number): Promise<Decision>
  isOutdated(decision: Decision, viewer: number, target: number): boolean
}

export interface LevelDecisionsParts {
  interner: Interner
  inputs: InputTable
  relations: Relations
  evaluator: Evaluator
}

const EVERYTHING: Omit<Decision, 'targetInputs' | 'viewerInputs'> = { level: 'everything', isGuess: false }
/** The usual case, shared by all. */
const OPEN: Decision = { ...EVERYTHING, targetInputs: UNRESTRICTED, viewerInputs: UNRESTRICTED }

export function createLevelDecisions(parts: LevelDecisionsParts): LevelDecisions {
  const { interner, inputs, relations, evaluator } = parts

  const viewerOf = (user: number): Party => ({ userId: interner.name(user), ...inputs.of(user) })

  /** A target with unknown settings is not shown, or as it was before, so they decide nothing here. */
  const privacyOf = ({ privacy }: VisibilityInputs) => (privacy === PRIVACY_UNKNOWN ? null : privacy)
  const targetOf = (user: number): Party => ({ ...viewerOf(user), privacy: privacyOf(inputs.of(user)) })

  function decideAtOnce(viewer: number, target: number): Decision | null {
    const [targetInputs, viewerInputs] = [inputs.of(target), inputs.of(viewer)]
    if (evaluator.isOpenToAll(privacyOf(targetInputs))) {
      const isUsual = targetInputs === UNRESTRICTED && viewerInputs === UNRESTRICTED
      return isUsual ? OPEN : { ...EVERYTHING, targetInputs, viewerInputs }
    }
    const [seen, viewing] = [targetOf(target), viewerOf(viewer)]
    const needed = evaluator.relevantRelation(seen, viewing)
    if (needed.viewerIsContact || needed.targetIsContact) return null
    const { level } = evaluator.visibleTo(seen, viewing, STRANGERS.relation)
    return { level, targetInputs, viewerInputs, isGuess: false }
  }

  async function decide(viewer: number, target: number): Promise<Decision> {
    const [targetInputs, viewerInputs] = [inputs.of(target), inputs.of(viewer)]
    const [seen, viewing] = [targetOf(target), viewerOf(viewer)]
    const { relation, isGuess } = await relations.between(seen, viewing)
    return { level: evaluator.visibleTo(seen, viewing, relation).level, targetInputs, viewerInputs, isGuess }
  }

  return {
    decideAtOnce,
    decide,
    decideMany(viewer, targets) {
      const decisions = targets.map((target) => decideAtOnce(viewer, target))
      if (decisions.every((decision) => decision !== null)) return decisions
      return Promise.all(decisions.map((decision, at) => decision ?? decide(viewer, targets[at]!)))
    },
    isOutdated: ({ targetInputs, viewerInputs }, viewer, target) =>
      inputs.of(target) !== targetInputs || inputs.of(viewer) !== viewerInputs,
  }
}
