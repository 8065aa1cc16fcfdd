// One user for example tests of the presence core: short spellings of events and a record that is
// carried from step to step. A session is named `platform#n`, so `web#1` and `web#2` are two tabs
// of one browser and `mobile#1` is the phone; everything else about it follows from the name.
import type { Activity, Availability, OwnPresence, Platform, Presence } from '@greendot/protocol'
import type { PresenceEvent } from '../../packages/server/src/presence/core/event.ts'
import { step } from '../../packages/server/src/presence/core/machine.ts'
import type { Policy } from '../../packages/server/src/presence/core/policy.ts'
import { emptyRecord, type UserRecord } from '../../packages/server/src/presence/core/record.ts'
import { toOwnPresence, toPresence } from '../../packages/server/src/presence/core/view.ts'

type SessionName = `${Platform}#${number}`
type Report = Extract<PresenceEvent, { type: 'connected' | 'active' | 'idle' }>
type Overrides = Partial<Omit<Report, 'type'>>

function report(type: Report['type'], name: SessionName, at: number, overrides: Overrides): Report {
  const platform = name.split('#')[0] as Platform
  const activity: Activity = type === 'idle' ? 'idle' : 'active'
  return {
    type,
    at,
    activity,
    sessionId: name,
    deviceId: `device-${platform}`,
    platform,
    gatewayId: 'g1',
    connectedAt: at,
    lastActiveAt: at,
    ...overrides,
  }
}

export const connected = (name: SessionName, at: number, overrides: Overrides = {}): PresenceEvent =>
  report('connected', name, at, overrides)
export const active = (name: SessionName, at: number, overrides: Overrides = {}): PresenceEvent =>
  report('active', name, at, overrides)
/** Idle since its last report, unless `lastActiveAt` says otherwise. */
export const idle = (name: SessionName, at: number, overrides: Overrides = {}): PresenceEvent =>
  report('idle', name, at, { lastActiveAt: 0, ...overrides })

export const left = (name: SessionName, at: number): PresenceEvent => ({ type: 'left', at, sessionId: name })
export const closed = (name: SessionName, at: number): PresenceEvent => ({
  type: 'closed',
  at,
  sessionId: name,
})
/** Found missing at `at`, after the last proof of life at `provenAt`. */
export const lost = (name: SessionName, at: number, provenAt: number): PresenceEvent => ({
  type: 'lost',
  at,
  sessionId: name,
  provenAt,
})

export const choose = (status: Availability, at: number, expiresAt: number | null = null): PresenceEvent => ({
  type: 'set_availability',
  at,
  status,
  expiresAt,
})
export const say = (text: string | null, at: number, expiresAt: number | null = null): PresenceEvent => ({
  type: 'set_custom_status',
  at,
  text,
  emoji: null,
  expiresAt,
})

/** Presence without what identifies it: what a visible change is a change of. */
export type Look = Pick<Presence, 'status' | 'devices' | 'custom_status'>

export function lookOf(record: UserRecord): Look {
  const { status, devices, custom_status } = toPresence('alice', record)
  return { status, devices, custom_status }
}

export interface TestUser {
  /** Steps to `now` with these events applied together, and returns what others see then. */
  at(now: number, ...events: PresenceEvent[]): Presence
  own(now: number): OwnPresence
  record(): UserRecord
  dueAt(): number | null
}

export function createUser(policy: Policy, start: UserRecord = emptyRecord()): TestUser {
  let record = start
  let dueAt: number | null = null
  return {
    at(now, ...events) {
      const result = step(record, events, now, policy)
      record = result.record
      dueAt = result.dueAt
      return toPresence('alice', record)
    },
    own: (now) => toOwnPresence('alice', record, now, policy),
    record: () => record,
    dueAt: () => dueAt,
  }
}
