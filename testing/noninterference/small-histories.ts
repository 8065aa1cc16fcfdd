// What small histories are written with, each of which tries one way to be given away: a few moves by their
// names, and the demand that nothing tells the history from the one without its secret.
import { expect } from 'bun:test'
import type { SettingsInput } from '../server.ts'
import { compare } from './compare.ts'
import type { History, Move, Name, Said, Step } from './moves.ts'
import { call, opens } from './people.ts'

export const at = (passMs: number, ...moves: Move[]): Step => ({ moves, passMs })

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
/** Shown beside the status. */
export const writes = (who: Name, text: string | null): Move =>
  call(who, 'self', 'PUT', '/api/v1/presence/status', { text })
export const silent = (who: Name, device: string): Move => ({ ...opens(who, device), isBeating: false })
export const streams = (who: Name, ...userIds: string[]): Move => ({
  does: 'stream',
  who,
  userIds,
  isResumed: false,
})

/** By their backend, and a secret like everything they do. */
export const hides = (body: Said): Move =>
  call('hidden', 'backend', 'PUT', '/api/v1/users/hidden/settings', body)
export const NOBODY = { status_visibility: 'nobody' }
export const CONTACTS = { status_visibility: 'contacts' }
export const vanishes: Move = { does: 'go invisible', who: 'hidden', by: 'backend', expiresInMs: null }

/** One in which everything `hidden` does is the secret. */
export const history = (...steps: Step[]): History => ({ settings: {}, steps, secretFrom: 0 })
/** One in which they do what everybody may see, until a step. */
export const historyFrom = (secretFrom: number, ...steps: Step[]): History => ({
  settings: {},
  steps,
  secretFrom,
})
/** With a database that takes its time to answer. */
export const slowly = (played: History, archiveMs = 5): History => ({ ...played, archiveMs })
/** With other settings than those of the server. */
export const under = (settings: SettingsInput, played: History): History => ({ ...played, settings })

export async function expectEqual(played: History): Promise<void> {
  expect((await compare(played)).difference).toBeNull()
}
