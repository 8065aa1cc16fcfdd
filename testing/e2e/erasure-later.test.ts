// What becomes of an erasure with time: the mark that keeps late reports out goes after a minute, and the
// second round that follows the first must not take from a user who came back meanwhile. The server lives by
// a clock that runs twenty times as fast, and for which a pause of the machine is short.
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { QueriedPresence } from '@greendot/protocol'
import { start } from '../../packages/server/src/compose.ts'
import type { Clock } from '../../packages/server/src/platform/clock.ts'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { createPatientClock } from '../clients/patient-clock.ts'
import { call } from '../http/calls.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { erase, nextMillisecond, putAs, rowsThatMention, watcherOf } from './erased-person.ts'
import { isOffline, isOnline, useScene } from './scene.ts'

const scene = useScene()
const ANNA = 'anna-q7x'
const TIMES = 20
const SECOND_ROUND_MS = 10_000
/** Clients do not beat twenty times as often. */
const FLAGS = ['--heartbeat-ttl-ms=3600000', '--heartbeat-interval-ms=1800000', '--offline-delay-ms=0']

const patient = createPatientClock()
const clock: Clock = {
  ...patient,
  now: () => Math.floor(performance.timeOrigin + patient.elapsed() * TIMES),
  elapsed: () => patient.elapsed() * TIMES,
  after: (delayMs, run) => patient.after(delayMs / TIMES, run),
  every: (intervalMs, run) => patient.every(intervalMs / TIMES, run),
  sleep: (delayMs) => patient.sleep(delayMs / TIMES),
}

async function quickServer() {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-test-'))
  scene.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  const database = `--database-url=sqlite://${join(folder, 'greendot.db')}`
  const argv = [
    '--dev',
    '--port=0',
    '--log-level=error',
    '--drain-ms=50',
    '--poll-burst=1000',
    '--write-burst=1000',
    database,
    ...FLAGS,
  ]
  const loaded = loadConfig({ argv, env: {}, readFile: () => null })
  if (!loaded.ok) throw new Error(loaded.problem)
  const running = await start(loaded.config, { logger: createLogger({ level: 'error' }), clock })
  scene.onEnd(() => running.stop('end of test'))
  return { url: running.url, folder }
}

const read = async (url: string) =>
  (await call<QueriedPresence>(url, 'GET', `/api/v1/presence/${ANNA}`, { token: 'dev' })).body

/** Users in the hot store. */
async function hotPeople(url: string): Promise<number> {
  const { body } = await call<{ users: Record<string, number> }>(url, 'GET', '/api/v1/stats', {
    token: 'dev',
  })
  return Object.values(body.users).reduce((sum, people) => sum + people, 0)
}

/** Lives, says something, is erased; ends with the version they had. */
async function liveAndBeErased(url: string): Promise<number> {
  const anna = await scene.person(url, ANNA)
  await putAs(url, ANNA, 'status', { text: 'words of before' })
  await putAs(url, ANNA, 'settings', { deny: ['mallory'] })
  const { version } = await read(url)
  await erase(url, ANNA)
  await anna.closed
  await nextMillisecond()
  return version
}

test('[X6] a minute later the hot store holds nothing of them, and they may come back', async () => {
  const server = await quickServer()
  const before = await liveAndBeErased(server.url)
  expect(await hotPeople(server.url)).toBe(1)
  await until(WAIT_MS, 'housekeeping', async () => (await hotPeople(server.url)) === 0)
  expect(rowsThatMention(server, ANNA)).toEqual([])
  const back = await scene.person(server.url, ANNA)
  expect(back.welcome.self).toMatchObject({ status: 'online', custom_status: null })
  expect(back.welcome.self.version).toBeGreaterThan(before)
})

test('[X6] the second round leaves a user alone who came back and is connected', async () => {
  const { url } = await quickServer()
  const bob = await watcherOf(scene, url, 'bob', [ANNA])
  await liveAndBeErased(url)
  const since = bob.heard.length
  const back = await scene.person(url, ANNA)
  await bob.sees(ANNA, isOnline, { since })
  const shown = bob.heard.length
  await clock.sleep(SECOND_ROUND_MS + 2_000)
  expect(back.socket.readyState).toBe(WebSocket.OPEN)
  expect(bob.sightings(ANNA, shown)).toEqual([])
  expect(await read(url)).toMatchObject({ status: 'online', version: back.welcome.self.version })
})

const returns: [string, (url: string) => Promise<unknown>][] = [
  ['said something', (url) => putAs(url, ANNA, 'status', { text: 'words of after' })],
  [
    'was here for a moment',
    async (url) => {
      const back = await scene.person(url, ANNA)
      back.send({ type: 'leave' })
      await back.closed
    },
  ],
]
test.each(returns)('[X6] nor does it take anything from a user who came back and %s', async (_, comeBack) => {
  const server = await quickServer()
  const bob = await watcherOf(scene, server.url, 'bob', [ANNA])
  await liveAndBeErased(server.url)
  const since = bob.heard.length
  await comeBack(server.url)
  await bob.sees(ANNA, (presence) => presence.version > 0 && isOffline(presence), { since })
  await clock.sleep(SECOND_ROUND_MS + 2_000)
  const { source: _source, ...shown } = await read(server.url)
  expect(shown.version).toBeGreaterThan(0)
  expect(bob.sightings(ANNA).at(-1)!.presence).toEqual(shown)
  // What was answered as done is durable.
  expect(rowsThatMention(server, ANNA).length).toBeGreaterThan(0)
})
