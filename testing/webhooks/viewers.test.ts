// Webhooks as one viewer sees the users: they go through the one evaluator, so a hidden user leaves no trace.
import { expect, test } from 'bun:test'
import type { WebhookEvent } from '@greendot/protocol'
import { call, useScene } from '../e2e/scene.ts'
import { addHook, editHook } from './hooks.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const scene = useScene()
const settings = (url: string, userId: string, body: object) =>
  call(url, `dev:${userId}`, 'PUT', '/api/v1/presence/settings', body)
const choose = (url: string, userId: string, status: string) =>
  call(url, `dev:${userId}`, 'PUT', '/api/v1/presence/availability', { status })
const steps = (events: WebhookEvent[], userId: string) =>
  events
    .filter(({ type, user_id }) => type === 'status.changed' && user_id === userId)
    .map(({ old_status, new_status }) => `${old_status} ${new_status}`)
const heard = (userId: string, step: string) => (events: WebhookEvent[]) =>
  steps(events, userId).includes(step)

/** A receiver for what alice sees, and one for what the backend may know. */
async function receivers(url: string) {
  const [alices, backends] = [startReceiver(scene.onEnd), startReceiver(scene.onEnd)]
  await addHook(url, { url: alices.url, filter: { viewer_id: 'alice' } })
  await addHook(url, { url: backends.url })
  return { alices, backends }
}

test('[X5, S6] a viewer hears nothing of a hidden user, and the backend hears all', async () => {
  const { url } = await scene.server({ offline_delay_ms: 0 })
  const { alices, backends } = await receivers(url)
  await settings(url, 'hal', { status_visibility: 'nobody' })
  await scene.person(url, 'hal')
  await choose(url, 'hal', 'busy')
  await backends.gets('what hal did', heard('hal', 'online busy'))
  // One log and one consumer: what comes after it was handled after it.
  await scene.person(url, 'vera')
  await alices.gets('the arrival of vera', heard('vera', 'offline online'))
  expect(alices.events.filter(({ user_id }) => user_id === 'hal')).toEqual([])
})

test('[X5, S6] a user who hides goes offline for the viewer, with version 0, and comes back when seen again', async () => {
  const { url } = await scene.server({ offline_delay_ms: 0 })
  const { alices, backends } = await receivers(url)
  await scene.person(url, 'hal')
  await alices.gets('the arrival', heard('hal', 'offline online'))
  await settings(url, 'hal', { deny: ['alice'] })
  await alices.gets('the end', heard('hal', 'online offline'))
  expect(alices.events.at(-1)).toMatchObject({ version: 0, devices: [], custom_status: null })
  await choose(url, 'hal', 'busy')
  await backends.gets('what alice may not see', heard('hal', 'online busy'))
  await settings(url, 'hal', { deny: [] })
  await alices.gets('the return', heard('hal', 'offline busy'))
  expect(steps(alices.events, 'hal')).toEqual(['offline online', 'online offline', 'offline busy'])
  expect(steps(backends.events, 'hal')).toEqual(['offline online', 'online busy'])
})

test('[X5, S6] contacts and reciprocity decide as they do everywhere, also when the viewer changes', async () => {
  const { url } = await scene.server({ offline_delay_ms: 0 })
  const { alices } = await receivers(url)
  const contacts = (owner: string, user_ids: string[]) =>
    call(url, 'dev', 'PUT', `/api/v1/users/${owner}/contacts`, { user_ids })
  await settings(url, 'hal', { status_visibility: 'contacts', reciprocal: true })
  await scene.person(url, 'hal')
  await contacts('hal', ['alice'])
  await alices.gets('the first look', heard('hal', 'offline online'))
  // Alice shows hal nothing any more.
  await scene.person(url, 'alice')
  await settings(url, 'alice', { status_visibility: 'nobody' })
  await alices.gets('the end', heard('hal', 'online offline'))
  await settings(url, 'alice', { status_visibility: 'everyone' })
  await alices.gets('the second look', (events) => steps(events, 'hal').length === 3)
  await contacts('hal', [])
  await alices.gets('the last end', (events) => steps(events, 'hal').length === 4)
  expect(steps(alices.events, 'hal').at(-1)).toBe('online offline')
})

test('[X5, S6] another viewer is not told how users differ from what the former viewer saw', async () => {
  const { url } = await scene.server({ offline_delay_ms: 0 })
  const [receiver, backends] = [startReceiver(scene.onEnd), startReceiver(scene.onEnd)]
  const { id } = await addHook(url, { url: receiver.url, filter: { viewer_id: 'alice' } })
  await addHook(url, { url: backends.url })
  await settings(url, 'hal', { deny: ['bob'] })
  await scene.person(url, 'hal')
  await receiver.gets('what alice sees', heard('hal', 'offline online'))
  const before = receiver.events.length
  await editHook(url, id, { filter: { viewer_id: 'bob' } })
  await choose(url, 'hal', 'busy')
  await settings(url, 'bob', { status_visibility: 'contacts' })
  await backends.gets('what hal did', heard('hal', 'online busy'))
  await scene.person(url, 'vera')
  await receiver.gets('the arrival of vera', heard('vera', 'offline online'))
  const since = receiver.events.slice(before)
  expect(since.filter(({ user_id }) => user_id === 'hal')).toEqual([])
  // Back to alice: what she sees is told anew, with ids of its own.
  await editHook(url, id, { filter: { viewer_id: 'alice' } })
  await choose(url, 'hal', 'online')
  await receiver.gets('hal as alice sees him', (events) => steps(events, 'hal').length === 2)
  expect(steps(receiver.events, 'hal')).toEqual(['offline online', 'offline online'])
})

test('[X5, S6] a user whom the viewer reveals, by settings or by contacts, is told', async () => {
  const { url } = await scene.server({ offline_delay_ms: 0 })
  const [alices, contacts, backends] = [1, 2, 3].map(() => startReceiver(scene.onEnd)) as [
    Receiver,
    Receiver,
    Receiver,
  ]
  await addHook(url, { url: alices.url, filter: { viewer_id: 'alice' } })
  await addHook(url, { url: contacts.url, filter: { viewer_id: 'alice', contacts_of: 'carol' } })
  await addHook(url, { url: backends.url })
  await settings(url, 'alice', { status_visibility: 'nobody' })
  await settings(url, 'hal', { reciprocal: true })
  await scene.person(url, 'hal')
  await backends.gets('the arrival', heard('hal', 'offline online'))
  expect(steps(alices.events, 'hal')).toEqual([])
  // Alice has never seen hal, and now may.
  await settings(url, 'alice', { status_visibility: 'everyone' })
  await alices.gets('hal', heard('hal', 'offline online'))
  expect(steps(contacts.events, 'hal')).toEqual([])
  await call(url, 'dev', 'PUT', '/api/v1/users/carol/contacts', { user_ids: ['hal'] })
  await contacts.gets('hal among the contacts', heard('hal', 'offline online'))
})
