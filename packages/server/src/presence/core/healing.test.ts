// Examples for the rules about lost gateways, announced-again connections and lost versions.
import { describe, expect, test } from 'bun:test'
import type { PresenceEvent } from './event.ts'
import { step } from './machine.ts'
import { POLICIES } from './policy.ts'
import { emptyRecord, PRESUMED_GATEWAY, type UserRecord } from './record.ts'
import { toPresence } from './view.ts'

const policy = POLICIES.instant
const T = 1_000_000

function report(sessionId: string, gatewayId: string, at: number, formerId?: string): PresenceEvent {
  const facts = {
    sessionId,
    deviceId: 'd',
    platform: 'web',
    gatewayId,
    connectedAt: T,
    lastActiveAt: at,
  } as const
  const again = formerId === undefined ? {} : { again: { since: at, formerIds: [formerId] } }
  return { type: 'active', activity: 'active', at, ...facts, ...again }
}

const after = (record: UserRecord, now: number, ...events: PresenceEvent[]) =>
  step(record, events, now, policy)
const online = after(emptyRecord(), T, report('g1-1', 'g1', T)).record

describe('a session that was presumed', () => {
  const presumed: UserRecord = {
    ...online,
    sessions: online.sessions.map((session) => ({
      ...session,
      id: 'presumed-0',
      gatewayId: PRESUMED_GATEWAY,
      end: { state: 'lost', since: T + 20_000, provenAt: T + 1 },
    })),
  }

  test('[P26] counts until a gateway says how the device is, and not beside it', () => {
    const idle = { ...report('g2-1', 'g2', T + 2, 'g1-1'), type: 'idle', activity: 'idle' } as PresenceEvent
    const { record } = after(presumed, T + 2, idle)
    expect(record.sessions.map(({ id }) => id)).toEqual(['g2-1'])
    expect(record.shown.status).toBe('away')
  })

  test('[P26] of another device stays', () => {
    const other = { ...report('g2-1', 'g2', T + 2), deviceId: 'other' } as PresenceEvent
    expect(after(presumed, T + 2, other).record.sessions).toHaveLength(2)
  })
})

describe('a gateway whose lease ran out', () => {
  const lost: PresenceEvent = { type: 'gateway_lost', gatewayId: 'g1', at: T + 10_000, provenAt: T + 500 }

  test('[P25] loses its sessions, which keep their vote for the offline delay', () => {
    const { record, dueAt } = after(online, T + 10_200, lost)
    expect(record.shown.status).toBe('online')
    expect(dueAt).toBe(T + 15_000)
    const gone = after(record, T + 15_000, { type: 'tick' }).record
    expect(gone.shown).toMatchObject({ status: 'offline', lastSeen: T + 500 })
  })

  test('[P25] is lost once: repeating it, or losing another gateway, changes nothing', () => {
    const { record } = after(online, T + 10_200, lost)
    expect(after(record, T + 10_300, lost).record).toBe(record)
    expect(after(online, T + 10_200, { ...lost, gatewayId: 'g2' }).record).toBe(online)
  })

  test('[P25] does not lose sessions on other gateways', () => {
    const both = after(online, T + 1, report('g2-1', 'g2', T + 1)).record
    const gone = after(after(both, T + 10_200, lost).record, T + 60_000, { type: 'tick' }).record
    expect(gone.shown.status).toBe('online')
    expect(gone.sessions.map(({ id }) => id)).toEqual(['g2-1'])
  })
})

describe('a connection announced again', () => {
  test('[P26] replaces its former id, and nothing is visible', () => {
    const { record } = after(online, T + 5_000, report('g2-1', 'g2', T + 5_000, 'g1-1'))
    expect(record.sessions.map(({ id }) => id)).toEqual(['g2-1'])
    expect(toPresence('bob', record)).toEqual(toPresence('bob', online))
    const late = after(record, T + 6_000, report('g1-1', 'g1', T + 100)).record
    expect(late).toBe(record)
  })

  test('[P26] counts after its former id was lost and forgotten, whenever it first connected', () => {
    const gone = after(online, T + 1, { type: 'left', sessionId: 'g1-1', at: T + 1 }).record
    const later = T + 400_000
    const other = after(gone, later, report('x', 'g3', later)).record
    const ended = after(other, later + 1, { type: 'left', sessionId: 'x', at: later + 1 }).record
    const long = later + 400_000
    const cleared = after(ended, long, report('y', 'g3', long)).record
    const back = after(cleared, long + 2, report('g2-1', 'g2', long + 2, 'g1-1')).record
    expect(back.forgottenAt).toBeGreaterThan(T)
    expect(back.sessions.map(({ id }) => id)).toContain('g2-1')
  })

  test('[P26] is shown at once even where arrivals wait: it is no arrival', () => {
    const back = step(emptyRecord(), [report('g2-1', 'g2', T + 60_000)], T + 60_000, POLICIES.calm).record
    expect(back.shown.status).toBe('online')
  })
})

test('[P27] the present state gets a version above one that was shown and that the store has lost', () => {
  const { record } = after(online, T + 1, { type: 'raise_version', version: 41 })
  expect(record.version).toBe(42)
  expect(record.shown).toEqual(online.shown)
  expect(after(record, T + 2, { type: 'raise_version', version: 41 }).record).toBe(record)
})

test('[P10] a goodbye of a device ends its sessions on every gateway, except later ones', () => {
  const both = after(online, T + 1, report('g2-1', 'g2', T + 1)).record
  const goodbye: PresenceEvent = { type: 'device_left', deviceId: 'd', at: T + 100 }
  const gone = after(both, T + 100, goodbye).record
  expect(gone.shown).toMatchObject({ status: 'offline', lastSeen: T + 100 })
  const back = after(gone, T + 200, report('g1-2', 'g1', T + 200)).record
  expect(after(back, T + 300, goodbye).record).toBe(back)
})

test('[P10] a disconnect by the app ends the sessions of every device, except later ones', () => {
  const both = after(online, T + 1, {
    ...report('g2-1', 'g2', T + 1),
    deviceId: 'other',
  } as PresenceEvent).record
  const goodbye: PresenceEvent = { type: 'user_left', at: T + 100 }
  const gone = after(both, T + 100, goodbye).record
  expect(gone.shown).toMatchObject({ status: 'offline', lastSeen: T + 100, devices: [] })
  expect(after(gone, T + 101, report('g2-1', 'g2', T + 101)).record.shown.status).toBe('offline')
  const back = after(gone, T + 200, report('g1-2', 'g1', T + 200)).record
  expect(after(back, T + 300, goodbye).record).toBe(back)
})
