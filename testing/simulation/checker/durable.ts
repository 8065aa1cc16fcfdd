// B5: a choice that was acknowledged is in the archive. B6: when everything is quiet, what the hot store shows of a user
// who is gone is in the archive too, and the history has every change that the log has.
import type { ArchivedUser } from '../../../packages/server/src/archive/port.ts'
import {
  applyToHistory,
  type HistoryChange,
  type KeptInterval,
} from '../../../packages/server/src/presence/core/history.ts'
import type { Stored } from '../../../packages/server/src/store/port.ts'
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { Field, History } from '../../faults/random/history/history.ts'
import { possibleChoices } from '../../faults/random/history/possible-choices.ts'
import type { SimulatedSettings } from '../world/settings.ts'

/** Of each user, in the order of the targets. */
export function checkChoices(
  history: History,
  archived: readonly ArchivedUser[],
  { defaultVisibility }: SimulatedSettings,
  now: number,
): Violation[] {
  return [...history.targets.values()].flatMap((target, index) => {
    const settings = archived[index]!.settings
    const held: Record<Field, string> = {
      availability: settings?.availability?.status ?? 'auto',
      text: settings?.customStatus?.text ?? '',
      visibility: settings?.privacy?.statusVisibility ?? defaultVisibility,
    }
    return (Object.keys(held) as Field[]).flatMap((field): Violation[] => {
      const possible = possibleChoices(target, field, now, now)
      if (possible.has(held[field])) return []
      const what = `the archive has ${field} "${held[field]}" of ${target.id}; acknowledged was "${[...possible].join('" or "')}"`
      return [{ check: 'choice', at: now, target: target.id, what }]
    })
  })
}

/** All users are gone. */
export function checkArchived(
  ids: readonly string[],
  stored: readonly (Stored | null)[],
  archived: readonly ArchivedUser[],
  now: number,
): Violation[] {
  return ids.flatMap((id, index): Violation[] => {
    const record = stored[index]?.record
    const row = archived[index]!.lastSeen
    // The store forgets users who are gone, and a user who was never shown has no row.
    if (record === undefined || record.shown.lastSeen === null) return []
    const say = (what: string): Violation[] => [
      { check: 'archived', at: now, target: id, what: `${id} ${what}` },
    ]
    if (record.settings === 'unknown') return say('has unknown settings')
    if (row === null) return say('is not in the archive')
    if (row.status !== 'offline') return say('is here by the archive')
    if (row.version !== record.version)
      return say(`has version ${record.version} in the store and ${row.version} in the archive`)
    return []
  })
}

/** The intervals that follow from the changes of a user in the log. */
function intervalsOf(changes: readonly HistoryChange[]): KeptInterval[] {
  const intervals: KeptInterval[] = []
  for (const change of changes) {
    const [first, second] = applyToHistory(intervals.at(-1) ?? null, change)
    if (first === undefined) continue
    if (first.version === intervals.at(-1)?.version) intervals.pop()
    intervals.push(first, ...(second === undefined ? [] : [second]))
  }
  return intervals
}

export function checkHistory(
  id: string,
  logged: readonly HistoryChange[],
  kept: readonly KeptInterval[],
  now: number,
): Violation[] {
  const texts = (intervals: readonly KeptInterval[]) =>
    intervals.map(({ version, status, fromAt, toAt }) => `${version} ${status} ${fromAt}-${toAt}`)
  const expected = texts(intervalsOf(logged))
  const found = texts(kept)
  const wrong = expected.findIndex((text, index) => text !== found[index])
  if (wrong === -1 && expected.length === found.length) return []
  const at = Math.max(0, wrong)
  const what = `the history of ${id} has ${found[at]} where the log has ${expected[at]}`
  return [{ check: 'relayed', at: now, target: id, what }]
}
