// Settings of the own user against a real server: reading, changing, refusals, and calls at the same time.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { connect as connectBare } from '../../../testing/clients/client.ts'
import { DEFAULT_SETTINGS } from '../../../testing/clients/default-settings.ts'
import { startServer, type TestServer } from '../../../testing/clients/server.ts'
import { createFakeClock } from '../../../testing/worlds/fake-clock.ts'
import { runtimeOf } from '../testing/runtime.ts'
import { connect } from './index.ts'
import { callSettings } from './settings/settings.ts'
import type { ConnectOptions, Dot, SettingsChange } from './types.ts'

let server: TestServer
const dots: Dot[] = []
beforeEach(async () => {
  server = await startServer()
})
afterEach(async () => {
  for (const dot of dots.splice(0)) dot.close()
  await server.stop()
})

function open(options: Partial<ConnectOptions> = {}): Dot {
  const dot = connect({ url: server.url, token: 'dev:alice', ...options })
  dots.push(dot)
  return dot
}

describe('settings', () => {
  test('[X3, S5] are read with the defaults of the server, and changed one by one', async () => {
    const dot = open()
    expect(await dot.settings()).toEqual({ ok: true, settings: { ...DEFAULT_SETTINGS, allow: [], deny: [] } })
    const changed = await dot.setSettings({ last_seen_precision: 'approximate', deny: ['mallory'] })
    const expected = { ...DEFAULT_SETTINGS, last_seen_precision: 'approximate', deny: ['mallory'] }
    expect(changed).toMatchObject({ ok: true, settings: expected })
    expect(await dot.settings()).toEqual(changed)
    expect(await open({ transport: 'http' }).settings()).toEqual(changed)
  })

  test('[X3, S5] a change takes effect for viewers at once, and null returns to the default', async () => {
    const bob = await connectBare(server.url, 'bob')
    bob.send({ type: 'watch', user_ids: ['alice'] })
    const dot = open()
    await bob.sees('alice', ({ status }) => status === 'online')
    await dot.setSettings({ status_visibility: 'nobody' })
    await bob.sees('alice', ({ version }) => version === 0, { since: bob.heard.length - 1 })
    const back = await dot.setSettings({ status_visibility: null })
    expect(back).toMatchObject({ settings: { status_visibility: 'everyone' } })
    bob.close()
  })

  test('[X3] what the server refuses is a value with its code, and changes nothing', async () => {
    const dot = open()
    const refused: [SettingsChange, string][] = [
      [{ status_visibility: 'friends' as 'contacts' }, 'bad_request'],
      [{ deny: ['a b'] }, 'invalid_id'],
      [{ deny: Array.from({ length: 1_001 }, (_, n) => `u${n}`) }, 'too_many_ids'],
    ]
    for (const [change, code] of refused)
      expect(await dot.setSettings(change)).toMatchObject({ ok: false, code })
    expect(await dot.settings()).toMatchObject({ settings: DEFAULT_SETTINGS })
    expect(await open({ token: 'nonsense' }).settings()).toMatchObject({ ok: false, code: 'unauthorized' })
  })

  test('[X3] without a server or a token they fail with a value, and after close at once', async () => {
    const noToken = open({ token: () => Promise.reject(new Error('logged out')) })
    expect(await noToken.settings()).toEqual({
      ok: false,
      code: 'unauthorized',
      message: 'Error: logged out',
    })
    const lost = open({ url: 'http://127.0.0.1:1' })
    expect(await lost.settings()).toMatchObject({ ok: false, code: 'unavailable' })
    const dot = open()
    dot.close()
    const closed = { ok: false, code: 'unavailable', message: 'this device has closed' } as const
    expect(await dot.settings()).toEqual(closed)
    expect(await dot.setSettings({ reciprocal: true })).toEqual(closed)
  })

  test('[X3] a listener gets every answer, and the newest last', async () => {
    const dot = open()
    const heard: boolean[] = []
    dot.on('settings', ({ reciprocal }) => heard.push(reciprocal))
    await Promise.all([
      dot.settings(),
      dot.setSettings({ reciprocal: true }),
      dot.settings(),
      dot.setSettings({ reciprocal: false }),
    ])
    expect(heard).toEqual([false, true, true, false])
  })
})

describe('calls of settings', () => {
  type Call = { init: RequestInit; answer(response: Response): void }

  function createWorld(token = async () => 'token') {
    const clock = createFakeClock(0)
    const calls: Call[] = []
    const runtime = runtimeOf(clock, {
      fetch: (_, init) => new Promise((answer) => calls.push({ init, answer })),
    })
    return { clock, calls, parts: { runtime, url: 'http://presence', token } }
  }

  test('[X3] reads at the same time are one request, and a read after a change is another one', async () => {
    const { clock, calls, parts } = createWorld()
    const answers = [
      callSettings(parts),
      callSettings(parts),
      callSettings(parts, { reciprocal: true }),
      callSettings(parts),
      callSettings(parts),
    ]
    for (let count = 1; count <= 3; count++) {
      await clock.advance(0)
      expect(calls).toHaveLength(count)
      calls.at(-1)!.answer(Response.json({ count }))
      await clock.advance(0)
    }
    expect(calls.map(({ init }) => init.method ?? 'GET')).toEqual(['GET', 'PUT', 'GET'])
    const counts = (await Promise.all(answers)).map((answer) => answer.ok && answer.settings)
    expect(counts as unknown[]).toEqual([1, 1, 2, 3, 3].map((count) => ({ count })))
  })

  test('[X3] an answer that is not from Greendot is unavailable, with its status', async () => {
    const { clock, calls, parts } = createWorld()
    const answer = callSettings(parts)
    await clock.advance(0)
    calls[0]!.answer(new Response('<h1>Bad gateway</h1>', { status: 502 }))
    expect(await answer).toEqual({ ok: false, code: 'unavailable', message: 'the server answered 502' })
  })

  test('[X3] no answer, and a token that never comes, end after 30 seconds', async () => {
    for (const token of [undefined, () => new Promise<string>(() => {})]) {
      const { clock, calls, parts } = createWorld(token)
      const answer = callSettings(parts)
      await clock.advance(30_000)
      expect(await answer).toEqual({ ok: false, code: 'unavailable', message: 'no answer in time' })
      for (const { init } of calls) expect(init.signal!.aborted).toBe(true)
      expect(clock.timerCount()).toBe(0)
    }
  })

  test('[X3] more than a hundred waiting changes are refused', async () => {
    const { parts } = createWorld()
    for (let count = 0; count < 100; count++) void callSettings(parts, {})
    expect(await callSettings(parts, {})).toMatchObject({ ok: false, code: 'overloaded' })
  })
})
