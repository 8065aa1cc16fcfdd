// How a record lies in Redis: a head that scripts read (status, gateways) and the record as JSON,
// which only we read. Fields at their usual value are left out; most people have no settings.
import type { Session, UserRecord } from '../presence/core/record.ts'
import type { Stored } from './port.ts'

/** What a field is when it is left out. Part of the data: it never changes. */
const USUAL = {
  sessions: [],
  tombstones: [],
  forgottenAt: 0,
  availability: null,
  customStatus: null,
  awayAfter: null,
  privacy: null,
  contactsAt: 0,
} as const satisfies Partial<UserRecord>

export function encodeRecord(record: UserRecord): string {
  return JSON.stringify({
    ...record,
    sessions: record.sessions.length === 0 ? undefined : record.sessions,
    tombstones: record.tombstones.length === 0 ? undefined : record.tombstones,
    forgottenAt: record.forgottenAt === 0 ? undefined : record.forgottenAt,
    availability: record.availability ?? undefined,
    customStatus: record.customStatus ?? undefined,
    awayAfter: record.awayAfter ?? undefined,
    privacy: record.privacy ?? undefined,
    contactsAt: record.contactsAt === 0 ? undefined : record.contactsAt,
  })
}

/** The shown status and the gateways with a live session, in an order that does not depend on sessions. */
export function headOf(record: UserRecord): string {
  const gateways = new Set<string>()
  for (const session of record.sessions) if (isLive(session)) gateways.add(session.gatewayId)
  const { status } = record.shown
  if (gateways.size === 0) return status
  return `${status} ${[...gateways].sort().join(' ')}`
}

const isLive = (session: Session): boolean => session.end.state === 'live'

/** Reads what the commit script wrote. */
export function decodeStored(text: string): Stored {
  const recordFrom = text.indexOf('\n') + 1
  const revision = Number(text.slice(0, text.indexOf(' ')))
  return { record: { ...USUAL, ...JSON.parse(text.slice(recordFrom)) }, revision }
}
