// What small histories are written with, each of which tries one way for a hidden user to be noticed: a few moves
// by their names.
import type { SettingsInput } from '../clients/server.ts'
import type { History, Move, Name, Said, Step } from './moves.ts'
import { call, opens } from './user-moves.ts'

export interface Leak {
  /** What holds when there is no such leak. */
  title: string
  history: History
}

/** Moves of one turn, and the time after them; then everything is told before the next step. */
export const at = (passMs: number, ...moves: Move[]): Step => ({ moves, passMs })
/** The same, but the next step comes after that time whatever is under way. */
export const midway = (passMs: number, ...moves: Move[]): Step => ({ moves, passMs, runsOn: true })

export const watchesAs = (who: Name, device: string, ...userIds: string[]): Move => ({
  does: 'watch',
  who,
  device,
  userIds,
  known: 'none',
})
export const watches = (device: string, ...userIds: string[]): Move => watchesAs('viewer', device, ...userIds)
export const reads = (who: Name, userId: string): Move =>
  call(who, 'self', 'GET', `/api/v1/presence/${userId}`)
export const readsPublicly = (userId: string): Move =>
  call('viewer', 'anyone', 'GET', `/api/v1/public/presence/${userId}`)
/** The custom status. */
export const writes = (who: Name, text: string | null, expiresInMs?: number): Move =>
  call(who, 'self', 'PUT', '/api/v1/presence/status', {
    text,
    ...(expiresInMs === undefined ? {} : { expires_in_ms: expiresInMs }),
  })
export const leaves = (who: Name, device: string): Move => ({
  does: 'say',
  who,
  device,
  frame: { type: 'leave' },
})
export const silent = (who: Name, device: string): Move => ({ ...opens(who, device), isBeating: false })
export const streams = (who: Name, ...userIds: string[]): Move => ({
  does: 'stream',
  who,
  userIds,
  isResumed: false,
})
export const subscribes = (who: Name, ...userIds: string[]): Move => ({ does: 'subscribe', who, userIds })
export const erases = (userId: Name): Move => call(null, 'backend', 'DELETE', `/api/v1/users/${userId}`)
export const restarts: Move = { does: 'restart', who: null }

/** By their backend, and secret like everything `hidden` does. */
export const hides = (body: Said): Move =>
  call('hidden', 'backend', 'PUT', '/api/v1/users/hidden/settings', body)
export const HIDDEN_STATUS = { status_visibility: 'nobody' }
export const CONTACTS = { status_visibility: 'contacts' }
export const vanishes: Move = { does: 'go invisible', who: 'hidden', by: 'backend', expiresInMs: null }

/** All that `hidden` does is secret. */
export const history = (...steps: Step[]): History => ({ settings: {}, steps, secretFrom: 0 })
/** What `hidden` does is secret from this step on. */
export const historyFrom = (secretFrom: number, ...steps: Step[]): History => ({
  settings: {},
  steps,
  secretFrom,
})
/** With an archive that takes its time to answer. */
export const slowly = (played: History, archiveMs = 5): History => ({ ...played, archiveMs })
export const under = (settings: SettingsInput, played: History): History => ({ ...played, settings })
