// Everything that is kept about one user, from the hot store and the archive. It is all or nothing: without the
// hot store it would be incomplete and look complete. It leaves out the allow and deny lists of others that
// name the user: a user must not notice being denied.
import type { Archive, DisconnectRow } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../core/policy.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import { emptyRecord, isBare } from '../core/record.ts'
import { toOwnPresence } from '../core/view.ts'
import type { Reader } from '../reading/reader.ts'
import { Unavailable } from '../unavailable.ts'
import type { History } from './history.ts'
import { inPages } from './in-pages.ts'
import { keptOf } from './person-kept.ts'
import { toSettings } from './settings-view.ts'

const NOT_WHOLE = 'a part of what is kept cannot be read now, and an export has all of it; try again soon'

export interface PersonExportParts {
  archive: Archive
  reader: Reader
  history: Pick<History, 'pages'>
  policy: Policy
  rules: PrivacyRules
  clock: Clock
}

/** The text of a JSON object. An unknown user has one too, with nothing in it. */
export type PersonExport = (userId: string) => Promise<string>

export function createPersonExport({
  archive,
  reader,
  history,
  policy,
  rules,
  clock,
}: PersonExportParts): PersonExport {
  async function collect(userId: string): Promise<string> {
    const { records, isDegraded } = await reader.read([userId])
    if (isDegraded) throw new Unavailable('the hot store does not answer', { advice: NOT_WHOLE })
    const found = records[0] ?? null
    // The mark of an erasure is no data of the user.
    const record = found === null || isBare(found) ? emptyRecord() : found
    const contactOf: string[] = []
    for await (const ids of inPages(clock, (after, limit) => archive.ownersOf(userId, after, limit)))
      contactOf.push(...ids)
    const contacts = await archive.contactsJson(userId)
    const intervals: string[] = []
    for await (const page of history.pages(userId))
      for (const { status, fromAt: from, toAt: to, devices } of page)
        intervals.push(JSON.stringify({ status, from, to, devices }))
    const disconnects = await archive.disconnects.of(userId)
    const now = clock.now()
    const head = JSON.stringify({
      user_id: userId,
      exported_at: now,
      presence: toOwnPresence(userId, record, now, policy),
      settings: toSettings(record, policy, rules),
      kept: keptOf(userId, record),
    })
    // The lists may be very long, and one of them is JSON already.
    const lists = [
      `"contacts":${contacts}`,
      `"contact_of":${JSON.stringify(contactOf)}`,
      `"history":[${intervals.join(',')}]`,
      `"disconnects":${JSON.stringify(disconnects.map(toDisconnect))}`,
    ]
    return `${head.slice(0, -1)},${lists.join(',')}}`
  }

  return (userId) =>
    collect(userId).catch((error: unknown) => {
      if (error instanceof Unavailable && error.advice !== null) throw error
      throw new Unavailable('the archive does not answer', { cause: error, advice: NOT_WHOLE })
    })
}

const toDisconnect = ({ deviceId, at, until, reason }: DisconnectRow) => ({
  device_id: deviceId,
  at,
  until,
  reason,
})
