// What a user may have chosen at some time, as far as the answers tell. An acknowledged choice holds and replaces
// earlier ones. A refused choice may hold until the next acknowledged one. A choice without an answer may take
// effect at any later time. So there is a set of possible values.
import type { Choice, Field, Target } from './history.ts'

const INITIAL: Record<Field, string> = { availability: 'auto', text: '', visibility: 'everyone' }

/** The values that may have been in effect at any instant of the stretch. */
export function possibleChoices(
  { choices }: Pick<Target, 'choices'>,
  field: Field,
  from: number,
  to: number,
): Set<string> {
  const all: Choice[] = choices.filter((choice) => choice.field === field)
  const isReplaced = (earlier: { answeredAt: number; outcome: string }): boolean =>
    earlier.outcome !== 'unanswered' &&
    all.some(
      ({ outcome, sentAt, answeredAt }) =>
        outcome === 'acknowledged' && sentAt >= earlier.answeredAt && answeredAt < from,
    )
  const initial = { value: INITIAL[field], sentAt: 0, answeredAt: 0, outcome: 'acknowledged' }
  const possible = [initial, ...all].filter((choice) => choice.sentAt <= to && !isReplaced(choice))
  return new Set(possible.map(({ value }) => value))
}

export type MaySee = 'yes' | 'no' | 'perhaps'

/** Whether this viewer may see that the user is here, during the whole stretch. */
export function maySee(target: Target, viewer: string, from: number, to: number): MaySee {
  const audiences = [...possibleChoices(target, 'visibility', from, to)]
  const availabilities = [...possibleChoices(target, 'availability', from, to)]
  const admits = (audience: string) => isAdmitted(target, viewer, audience)
  if (!audiences.some(admits) || availabilities.every((one) => one === 'invisible')) return 'no'
  return audiences.every(admits) && !availabilities.includes('invisible') ? 'yes' : 'perhaps'
}

export const isAdmitted = ({ contacts }: Target, viewer: string, audience: string): boolean =>
  audience === 'everyone' || (audience === 'contacts' && contacts.has(viewer))
