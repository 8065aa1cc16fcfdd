// How streams end: the client goes, its token expires, the server goes. Whatever it was, the answer is
// finished properly where it can be, and nothing of it stays behind.
import { expect, test } from 'bun:test'
import { createPatientClock } from '../clients/patient-clock.ts'
import { call } from '../http/calls.ts'
import { secondsFromNow, securedSettings, sign, userToken } from '../http/tokens.ts'
import { until, WAIT_MS, within } from '../services/within.ts'
import { useScene, watch } from './scene.ts'
import { openStream, type StreamOptions } from './stream-client.ts'

const scene = useScene()

async function stream(url: string, viewerId: string, userIds: string[], options?: StreamOptions) {
  const opened = await openStream(url, viewerId, userIds, options)
  scene.onEnd(opened.close)
  return opened
}

async function gauges(url: string, token = 'dev') {
  const { body } = await call<Record<string, number>>(url, 'GET', '/api/v1/stats', { token })
  return { streams: body.streams, watches: body.watches, watched_users: body.watched_users }
}
const NOTHING = { streams: 0, watches: 0, watched_users: 0 }

const setText = (url: string, userId: string, text: string) =>
  call(url, 'PUT', `/api/v1/users/${userId}/status`, { token: 'dev', body: { text } })

test('[W1] clients that go away free everything, also in the middle of changes', async () => {
  const { url } = await scene.server({ flush_ms: 5, sessions_per_user: 1_000 })
  const names = Array.from({ length: 50 }, (_, n) => `user-${n}`)
  const streams = await Promise.all(names.map((name) => stream(url, 'alice', ['bob', name])))
  expect(await gauges(url)).toEqual({ streams: 50, watches: 100, watched_users: 52 })
  for (const [n, one] of streams.entries()) {
    await setText(url, 'bob', `text ${n}`)
    one.close()
  }
  await until(WAIT_MS, 'nothing to be left', async () => Bun.deepEquals(await gauges(url), NOTHING))
  // Their places are those of others now, who hear nothing of what was on its way.
  const next = await Promise.all(names.map((name) => stream(url, 'carol', [name, 'marker'])))
  await setText(url, 'bob', 'unheard')
  await setText(url, 'marker', 'heard')
  for (const [n, one] of next.entries()) {
    await one.sees('marker', ({ custom_status }) => custom_status !== null)
    expect(one.sightings('bob')).toEqual([])
    expect(one.sightings(names[n]!)).toHaveLength(1)
  }
})

test('[C6] a stream ends with its token, and other streams of the user go on', async () => {
  const { url } = await scene.server({ ...securedSettings, metrics_open: true }, createPatientClock())
  const exp = secondsFromNow(2)
  const ending = await stream(url, 'alice', ['bob'], { token: sign({ sub: 'alice', exp }) })
  const staying = await stream(url, 'alice', ['bob'], { token: userToken('alice') })
  const { how, at } = await within(WAIT_MS, 'the end of the token', ending.ended)
  expect(how).toBe('whole')
  expect(at).toBeGreaterThanOrEqual(exp * 1_000)
  const body = { text: 'still told' }
  await call(url, 'PUT', '/api/v1/presence/status', { token: userToken('bob'), body })
  await staying.sees('bob', ({ custom_status }) => custom_status !== null)
})

test('[X2] SIGTERM ends streams at once, while sockets are still given their time', async () => {
  const server = await scene.process({ drain_ms: 60_000 })
  const socket = await scene.person(server.url, 'carol')
  await watch(socket, ['bob'])
  const streams = await Promise.all(
    Array.from({ length: 5 }, (_, n) => stream(server.url, `alice-${n}`, ['bob'])),
  )
  server.signal('SIGTERM')
  await socket.next('drain')
  for (const { ended } of streams) expect((await ended).how).toBe('whole')
  expect(socket.socket.readyState).toBe(WebSocket.OPEN)
  socket.close()
  expect(await within(WAIT_MS, 'the end of the server', server.exited)).toBe(0)
})

test('[X2] a server that stops leaves no stream hanging, not even one that is not read', async () => {
  const server = await scene.process({ drain_ms: 100, flush_ms: 5 })
  const idle = await stream(server.url, 'alice', ['bob'])
  const stuck = await stream(server.url, 'slow', ['bob'])
  stuck.stopReading()
  for (let n = 0; n < 50; n++) await setText(server.url, 'bob', `text ${n}`)
  server.signal('SIGTERM')
  expect(await within(WAIT_MS, 'the end of the server', server.exited)).toBe(0)
  expect((await idle.ended).how).toBe('whole')
})
