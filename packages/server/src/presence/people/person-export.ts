// Everything that is kept about one person, hot and cold, for the person to have, or nothing: without the hot
// store it would be less than all and look the same. Whose allow and deny lists they are on is not among it:
// that is what others decided, and being denied is not to be noticed.
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../core/policy.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import { emptyRecord, isBare } from '../core/record.ts'
import { toOwnPresence } from '../core/view.ts'
import type { Reader } from '../reading/reader.ts'
import { Unavailable } from '../unavailable.ts'
import { inPages } from './in-pages.ts'
import { keptOf } from './person-kept.ts'
import { toSettings } from './settings-view.ts'

const NOT_WHOLE = 'a part of what is kept cannot be read now, and an export has all of it; try again soon'

export interface PersonExportParts {
  archive: Archive
  reader: Reader
  policy: Policy
  rules: PrivacyRules
  clock: Clock
}

/** The text of a JSON object. Somebody nobody has heard of has one too, with nothing in it. */
export type PersonExport = (userId: string) => Promise<string>

export function createPersonExport({
  archive,
  reader,
  policy,
  rules,
  clock,
}: PersonExportParts): PersonExport {
  async function collect(userId: string): Promise<string> {
    const { records, isDegraded } = await reader.read([userId])
    if (isDegraded) throw new Unavailable('the hot store does not answer', { advice: NOT_WHOLE })
    const found = records[0] ?? null
    // What an erasure leaves for a while is nobody's.
    const record = found === null || isBare(found) ? emptyRecord() : found
    const contactOf: string[] = []
    for await (const ids of inPages(clock, (after, limit) => archive.ownersOf(userId, after, limit)))
      contactOf.push(...ids)
    const contacts = await archive.contactsJson(userId)
    const now = clock.now()
    const said = JSON.stringify({
      user_id: userId,
      exported_at: now,
      presence: toOwnPresence(userId, record, now, policy),
      settings: toSettings(record, policy, rules),
      kept: keptOf(userId, record),
    })
    // The lists may be very long, and one of them is JSON already.
    const lists = [`"contacts":${contacts}`, `"contact_of":${JSON.stringify(contactOf)}`]
    return `${said.slice(0, -1)},${lists.join(',')}}`
  }

  return (userId) =>
    collect(userId).catch((error: unknown) => {
      if (error instanceof Unavailable && error.advice !== null) throw error
      throw new Unavailable('the archive does not answer', { cause: error, advice: NOT_WHOLE })
    })
}
