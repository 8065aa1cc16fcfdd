// The disk of a lone server is full: triggers in its SQLite file make every write fail. Choices are refused and change
// nothing, presence goes on, and a stop says whose rows are lost.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { call, expectProblem } from '../http/calls.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { isOffline, isOnline, useScene, watch } from './scene.ts'

const scene = useScene()
const SETTINGS = '/api/v1/presence/settings'
const ALICE = { token: 'dev:alice' }
/** The tables that a server without webhooks writes in this test. */
const TABLES = ['user_settings', 'user_privacy', 'user_last_seen', 'server_alive']
const WRITES = ['INSERT', 'UPDATE']

function eachTrigger(
  folder: string,
  statementOf: (name: string, write: string, table: string) => string,
): void {
  using database = new Database(join(folder, 'greendot.db'))
  database.run('PRAGMA busy_timeout = 10000')
  // All at once: the server writes between two statements.
  database.transaction(() => {
    for (const table of TABLES)
      for (const write of WRITES) database.run(statementOf(`full_${table}_${write}`, write, table))
  })()
}

const fillDisk = (folder: string) =>
  eachTrigger(
    folder,
    (name, write, table) =>
      `CREATE TRIGGER ${name} BEFORE ${write} ON ${table} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
  )
const freeDisk = (folder: string) => eachTrigger(folder, (name) => `DROP TRIGGER ${name}`)

const readiness = (url: string) =>
  fetch(`${url}/readyz`).then(async (answer) => ({ status: answer.status, body: await answer.json() }))

async function expectNotReady(url: string): Promise<void> {
  const { status, body } = await readiness(url)
  expect(status).toBe(503)
  expect(body).toMatchObject({ status: 'not_ready', checks: { store: 'ok', archive: 'failing' } })
}

test('[S4][C7] with a full disk settings are refused, and are unchanged after a restart', async () => {
  const first = await scene.process({ log_level: 'silent' })
  const kept = { status_visibility: 'contacts', away_after_ms: 123_456, allow: ['zoe'] }
  expect((await call(first.url, 'PUT', SETTINGS, { ...ALICE, body: kept })).status).toBe(200)
  const { body: before } = await call(first.url, 'GET', SETTINGS, ALICE)
  expect(before).toMatchObject(kept)

  fillDisk(first.folder)
  // With and without sessions, and of a user who never chose anything.
  await scene.person(first.url, 'alice')
  for (const userId of ['alice', 'newcomer']) {
    const body = { status_visibility: 'nobody', away_after_ms: 60_000, allow: [] }
    const refused = await call(first.url, 'PUT', SETTINGS, { token: `dev:${userId}`, body })
    expect(refused.status).toBe(503)
    expectProblem(refused, 'unavailable')
  }
  expect((await call(first.url, 'GET', SETTINGS, ALICE)).body).toEqual(before)
  const { body: ofNewcomer } = await call(first.url, 'GET', SETTINGS, { token: 'dev:newcomer' })
  expect(ofNewcomer).toMatchObject({ status_visibility: 'everyone' })

  await first.kill()
  freeDisk(first.folder)
  const second = await scene.process({}, first.folder)
  expect((await call(second.url, 'GET', SETTINGS, ALICE)).body).toEqual(before)
  expect((await call(second.url, 'GET', SETTINGS, { token: 'dev:newcomer' })).body).toEqual(ofNewcomer)
})

test('[C7] with a full disk presence goes on, the server is not ready, and rows follow when there is space', async () => {
  const server = await scene.process({ log_level: 'silent', offline_delay_ms: 0 })
  const alice = await scene.person(server.url, 'alice')
  await watch(alice, ['bob'])
  expect((await readiness(server.url)).status).toBe(200)

  fillDisk(server.folder)
  const bob = await scene.person(server.url, 'bob')
  await alice.sees('bob', isOnline)
  await expectNotReady(server.url)
  const since = alice.heard.length
  bob.send({ type: 'leave' })
  const { presence: gone } = await alice.sees('bob', isOffline, { since })
  await expectNotReady(server.url)

  freeDisk(server.folder)
  await until(WAIT_MS, 'readiness', async () => (await readiness(server.url)).status === 200)
  await server.kill()
  const second = await scene.process({}, server.folder)
  const { body } = await call(second.url, 'GET', '/api/v1/presence/bob', ALICE)
  expect(body).toMatchObject({ ...gone, source: 'db' })
})

test('[S4][C7] a stop with a full disk exits with 1 and names the users whose rows are lost', async () => {
  const log: string[] = []
  const server = await scene.process({ log_level: 'error' }, undefined, (line) => log.push(line))
  const alice = await scene.person(server.url, 'alice')
  await watch(alice, ['bob'])
  fillDisk(server.folder)
  await scene.person(server.url, 'bob')
  await alice.sees('bob', isOnline)
  await expectNotReady(server.url)

  server.signal('SIGTERM')
  expect(await server.exited).toBe(1)
  const lost = log.map((line) => JSON.parse(line)).filter(({ first }) => first !== undefined)
  expect(lost).toEqual([
    expect.objectContaining({
      users: expect.any(Number),
      first: expect.arrayContaining(['bob']),
      msg: 'the archive could not be written before the stop; the last seen of these users is lost',
    }),
  ])
})
