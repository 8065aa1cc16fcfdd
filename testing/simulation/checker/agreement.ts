// B3: after everything is quiet and had its time to heal, all watchers and all processes show the same, and it is true.
import { disagreement } from '../../faults/random/checks/agreement.ts'
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { Shown } from '../../faults/random/history/truth.ts'
import type { Person } from '../clients/people.ts'
import type { Queried } from '../clients/requests.ts'
import { shownOf, type Viewer } from '../clients/viewers.ts'

export interface Answered {
  by: string
  viewer: string
  /** Null when there was none. */
  answer: Queried | null
}

export function checkAgreement(
  people: readonly Person[],
  viewers: Iterable<Viewer>,
  answers: readonly Answered[],
  now: number,
): Violation[] {
  const shown = new Map<string, Shown[]>(people.map(({ target }) => [target.id, []]))
  const found: Violation[] = []
  const notReady = (what: string) => found.push({ check: 'agreement', at: now, what })
  for (const viewer of viewers) {
    if (!viewer.peer.isReady()) notReady(`${viewer.id} does not watch`)
    for (const [id, one] of viewer.screen) shown.get(id)!.push(one)
  }
  for (const { by, viewer, answer } of answers) {
    if (answer === null) notReady(`${by} does not answer`)
    else if (answer.isDegraded) notReady(`${by} answers degraded`)
    else for (const one of answer.presences) shown.get(one.user_id)!.push(shownOf(by, viewer, one))
  }
  for (const person of people) {
    const wrong = disagreement(person.truth(), shown.get(person.target.id)!, now)
    if (wrong !== null) found.push(wrong)
  }
  return found
}
