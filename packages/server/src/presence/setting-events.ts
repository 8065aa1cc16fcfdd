// What people choose, as last-writer-wins registers. The newest choice wins; two choices of the
// same instant are ordered by their value, so that the order of arrival cannot matter.
import type { PresenceEvent } from './event.ts'
import type { UserRecord } from './record.ts'

type Choice = Extract<PresenceEvent, { type: 'set_availability' | 'set_custom_status' | 'set_away_after' }>

export function applyChoice(record: UserRecord, event: Choice): UserRecord {
  switch (event.type) {
    case 'set_availability': {
      // Automatic is where expiries lead to, so it has none itself.
      const expiresAt = event.status === 'auto' ? null : event.expiresAt
      const next = { status: event.status, expiresAt, setAt: event.at }
      return wins(next, record.availability) ? { ...record, availability: next } : record
    }
    case 'set_custom_status': {
      const isCleared = event.text === null && event.emoji === null
      const expiresAt = isCleared ? null : event.expiresAt
      const next = { text: event.text, emoji: event.emoji, expiresAt, setAt: event.at }
      return wins(next, record.customStatus) ? { ...record, customStatus: next } : record
    }
    case 'set_away_after': {
      const next = { awayAfterMs: event.awayAfterMs, setAt: event.at }
      return wins(next, record.awayAfter) ? { ...record, awayAfter: next } : record
    }
  }
}

function wins<T extends { setAt: number }>(next: T, current: T | null): boolean {
  if (current === null || next.setAt > current.setAt) return true
  return next.setAt === current.setAt && JSON.stringify(next) > JSON.stringify(current)
}
