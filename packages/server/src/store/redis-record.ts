// The format of a record in Redis: a head that scripts read (status, gateways) and the record as JSON, which
// only this file reads. Fields with their default value are left out; most users have no settings.
import type { Session, UserRecord } from '../presence/core/record.ts'
import type { Stored } from './port.ts'

/** The value of a field that is left out. Part of the data: it never changes. */
const DEFAULTS = {
  settings: 'known',
  sessions: [],
  tombstones: [],
  forgottenAt: 0,
  availability: null,
  customStatus: null,
  awayAfter: null,
  privacy: null,
  history: null,
  contactsAt: 0,
} as const satisfies Partial<UserRecord>

export function encodeRecord(record: UserRecord): string {
  return JSON.stringify({
    ...record,
    settings: record.settings === 'known' ? undefined : record.settings,
    sessions: record.sessions.length === 0 ? undefined : record.sessions,
    tombstones: record.tombstones.length === 0 ? undefined : record.tombstones,
    forgottenAt: record.forgottenAt === 0 ? undefined : record.forgottenAt,
    availability: record.availability ?? undefined,
    customStatus: record.customStatus ?? undefined,
    awayAfter: record.awayAfter ?? undefined,
    privacy: record.privacy ?? undefined,
    history: record.history ?? undefined,
    contactsAt: record.contactsAt === 0 ? undefined : record.contactsAt,
  })
}

/** The shown status and the sorted names of gateways with a live session. */
export function headOf(record: UserRecord): string {
  const gateways = new Set<string>()
  for (const session of record.sessions) if (isLive(session)) gateways.add(session.gatewayId)
  const { status } = record.shown
  if (gateways.size === 0) return status
  return `${status} ${[...gateways].sort().join(' ')}`
}

const isLive = (session: Session): boolean => session.end.state === 'live'

export function decodeStored(text: string): Stored {
  const recordFrom = text.indexOf('\n') + 1
  const revision = Number(text.slice(0, text.indexOf(' ')))
  return { record: { ...DEFAULTS, ...JSON.parse(text.slice(recordFrom)) }, revision }
}
