// The compact encoding on a real server: it is negotiated by subprotocol, and a viewer learns from it exactly what a
// viewer learns from JSON.
import { describe, expect, test } from 'bun:test'
import {
  SUBPROTOCOL_COMPACT as COMPACT,
  SUBPROTOCOL_JSON as JSON_NAME,
  type Presence,
} from '@greendot/protocol'
import { openClient, webSocketUrl } from '../clients/client.ts'
import { ask, call, isAway, isOffline, isOnline, type Person, useScene, watch } from './scene.ts'

const scene = useScene()

/** How many frames with presence came as JSON, and how many in the short form. */
function countForms(person: Person): { json: number; short: number } {
  const forms = { json: 0, short: 0 }
  person.socket.addEventListener('message', ({ data }) => {
    const text = String(data)
    if (!text.startsWith('{')) forms.short++
    else if (text.startsWith('{"type":"presence_')) forms.json++
  })
  return forms
}

const newest = (person: Person, userId: string): Presence | undefined =>
  person.sightings(userId).at(-1)?.presence

describe('a compact connection', () => {
  test('[C10] shows a viewer what JSON shows: snapshots, changes, hidden users, contacts that come and go', async () => {
    const { url } = await scene.server()
    const [plain, compact] = await Promise.all([
      scene.person(url, 'alice', { deviceId: 'plain' }),
      scene.person(url, 'alice', { deviceId: 'compact', encoding: 'compact' }),
    ])
    const [plainForms, compactForms] = [countForms(plain), countForms(compact)]
    const bob = await scene.person(url, 'bob', { platform: 'mobile' })
    const dave = await scene.person(url, 'dave', { platform: 'web' })
    await call(url, 'dev:dave', 'PUT', '/api/v1/presence/settings', { last_seen_precision: 'approximate' })

    const bothSee = async (userId: string, accept: (presence: Presence) => boolean) => {
      await Promise.all([plain, compact].map((person) => person.sees(userId, accept)))
      expect(newest(compact, userId)).toEqual(newest(plain, userId)!)
    }
    const watched = ['bob', 'dave', 'unknown', '{"an":"odd-id"}', 'ünïcode-🙂']
    expect(await watch(compact, watched)).toEqual(await watch(plain, watched))

    bob.be('idle')
    await bothSee('bob', isAway)
    await ask(bob, { type: 'set_custom_status', text: 'lunch,\nback "soon" \\ ', emoji: '🍜' })
    await bothSee('bob', ({ custom_status }) => custom_status?.emoji === '🍜')
    dave.be('idle')
    await bothSee('dave', (presence) => isAway(presence) && presence.last_seen_bucket === 'recently')
    const odd = await scene.person(url, 'ünïcode-🙂', { platform: 'console' })
    await bothSee('ünïcode-🙂', isOnline)
    odd.send({ type: 'leave' })
    await bothSee('ünïcode-🙂', (presence) => isOffline(presence) && presence.version > 0)
    await call(url, 'dev:bob', 'PUT', '/api/v1/presence/settings', { status_visibility: 'nobody' })
    await bothSee('bob', ({ version }) => version === 0)

    const listed = (method: 'POST' | 'DELETE') =>
      call(url, 'dev', method, '/api/v1/users/alice/contacts', { user_ids: ['erin'] })
    for (const person of [plain, compact]) await ask(person, { type: 'watch_contacts' })
    await listed('POST')
    await bothSee('erin', ({ version }) => version === 0)
    await listed('DELETE')
    for (const person of [plain, compact]) await person.next('contacts_removed')
    expect(compact.heard.filter(({ frame }) => frame.type === 'error')).toEqual([])

    expect(plainForms.short).toBe(0)
    expect(compactForms.short).toBeGreaterThan(5)
    // The list of contacts was empty at first, and a list without entries has no short form.
    expect(compactForms.json).toBe(1)
  })

  test('[C10, W7] says that no changes follow, where there are too many watchers', async () => {
    const { url } = await scene.server({ polled_above: 1 })
    await scene.person(url, 'bob')
    for (const name of ['carol', 'dave']) await watch(await scene.person(url, name), ['bob'])
    const [state] = await watch(await scene.person(url, 'alice', { encoding: 'compact' }), ['bob'])
    expect(state).toMatchObject({ user_id: 'bob', status: 'online', pushed: false })
  })

  test('[C10, D1] takes one letter as a heartbeat', async () => {
    const { url } = await scene.server()
    const alice = await scene.person(url, 'alice')
    await watch(alice, ['bob'])
    const bob = openClient(url, 'bob', { encoding: 'compact' })
    await alice.sees('bob', isOnline)
    bob.send('i')
    await alice.sees('bob', isAway)
    const since = alice.heard.length
    bob.send('a')
    await alice.sees('bob', isOnline, { since })
    for (const wrong of ['x', 'A', 'aa', '']) {
      bob.send(wrong)
      expect((await bob.next('error')).code).toBe('bad_frame')
    }
    alice.send('a')
    expect((await alice.next('error')).code).toBe('bad_frame')
  })
})

describe('the subprotocol', () => {
  const agreedTo = async (url: string, offered: string[], token = 'dev:alice') => {
    const socket = new WebSocket(webSocketUrl(url, 'alice', { token }), offered)
    scene.onEnd(() => socket.close())
    const first = await new Promise<string>((resolve) => {
      socket.onmessage = ({ data }) => resolve(String(data))
    })
    return { protocol: socket.protocol, first: JSON.parse(first) }
  }

  test('[C10] is answered with the one that is used', async () => {
    const { url } = await scene.server()
    expect((await agreedTo(url, [])).protocol).toBe('')
    expect((await agreedTo(url, [JSON_NAME])).protocol).toBe(JSON_NAME)
    expect((await agreedTo(url, [JSON_NAME, COMPACT])).protocol).toBe(COMPACT)
    expect((await agreedTo(url, [COMPACT, JSON_NAME])).protocol).toBe(COMPACT)
    expect((await agreedTo(url, ['mqtt', JSON_NAME])).protocol).toBe(JSON_NAME)
  })

  test('[C10, C6] is answered to a client that is refused too, so that a browser reads why', async () => {
    const { url } = await scene.server()
    const { protocol, first } = await agreedTo(url, [JSON_NAME, COMPACT], 'not-a-token')
    expect(protocol).toBe(COMPACT)
    expect(first).toMatchObject({ type: 'error', code: 'unauthorized' })
  })
})
