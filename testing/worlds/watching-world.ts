// The usual scene for tests of what viewers may see: alice and mallory watch bob, and bob shows himself to
// the users in his contact list only.
import { expect } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import type { Privacy } from '../../packages/server/src/presence/core/privacy.ts'
import { createGatewayWorld, type GatewayWorld } from './gateway-world.ts'

/** The connections of the two viewers. */
export const [ALICE, MALLORY] = [0, 1]
export const CONTACTS_ONLY: Partial<Privacy> = {
  statusVisibility: 'contacts',
  lastSeenVisibility: 'contacts',
}

/** Alice is in bob's list and sees him, mallory is not; bob was here before and wrote "first". */
export async function createContactsOnlyWorld(): Promise<GatewayWorld> {
  const world = await createGatewayWorld({ viewers: ['alice', 'mallory'] })
  await world.visit('bob')
  await world.editContacts('bob', ['alice'])
  await world.choose('bob', CONTACTS_ONLY)
  await world.setText('bob', 'first')
  expect(texts(await world.watch(ALICE, ['bob']))).toEqual(['first'])
  expect(versions(await world.watch(MALLORY, ['bob']))).toEqual([0])
  return world
}

export const texts = (presences: readonly Presence[]) =>
  presences.map(({ custom_status }) => custom_status?.text ?? null)
export const versions = (presences: readonly Presence[]) => presences.map(({ version }) => version)
