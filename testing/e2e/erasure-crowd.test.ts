// Erasing somebody whom ten thousand people have on their lists: it takes a moment, nobody else waits for
// it, and it reaches all of them.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { call } from '../http/calls.ts'
import { erase, rowsThatMention } from './erased-person.ts'
import { ask, isOnline, useScene } from './scene.ts'

const scene = useScene()
const STAR = 'star-q7x'
const OWNERS = 10_000
/** For anybody who asks something else meanwhile, on a busy machine. */
const WAIT_MAX_MS = 500
const ERASED_MS_MAX = 8_000

/** A database in which everybody has the star on their list, as a backend would have filled it. */
async function crowdedFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-test-'))
  scene.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'greendot.db')
  const archive = await createSqliteArchive({ path })
  await archive.migrate()
  await archive.close()
  using database = new Database(path)
  const add = database.prepare('INSERT INTO contact (owner_id, contact_id, created_at) VALUES (?, ?, 1)')
  database.transaction(() => {
    for (let n = 0; n < OWNERS; n++) for (const contact of [STAR, 'zoe']) add.run(`owner-${n}`, contact)
  })()
  return folder
}

test('[X6] a person in ten thousand contact lists is erased from all, while nobody waits', async () => {
  const folder = await crowdedFolder()
  const { url } = await scene.server({ database_url: `sqlite://${join(folder, 'greendot.db')}` })
  const followers = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const follower = await scene.person(url, `owner-${n * 500}`)
      await ask(follower, { type: 'watch_contacts' })
      return follower
    }),
  )
  await scene.person(url, STAR)
  for (const follower of followers) await follower.sees(STAR, isOnline)
  const exported = await call<{ contact_of: string[] }>(url, 'GET', `/api/v1/users/${STAR}/export`, {
    token: 'dev',
  })
  expect(new Set(exported.body.contact_of).size).toBe(OWNERS)

  const startedAt = performance.now()
  const since = followers.map(({ heard }) => heard.length)
  let isUnderWay = true
  const erasing = erase(url, STAR)
  const isGone = ({ version }: { version: number }) => version === 0
  const told = Promise.all(followers.map((follower, n) => follower.sees(STAR, isGone, { since: since[n]! })))
  void Promise.all([erasing, told]).finally(() => {
    isUnderWay = false
  })
  const waitsMs: number[] = []
  while (isUnderWay) {
    const askedAt = performance.now()
    await call(url, 'GET', '/api/v1/presence/somebody', { token: 'dev:else' })
    waitsMs.push(performance.now() - askedAt)
  }
  expect((await erasing).status).toBe(204)
  for (const { presence } of await told) expect(presence.status).toBe('offline')
  expect(performance.now() - startedAt).toBeLessThan(ERASED_MS_MAX)
  expect(Math.max(...waitsMs)).toBeLessThan(WAIT_MAX_MS)
  expect(waitsMs.length).toBeGreaterThan(5)

  expect(rowsThatMention({ folder }, STAR)).toEqual([])
  const { body } = await call(url, 'GET', '/api/v1/users/owner-9999/contacts', { token: 'dev' })
  expect(body).toEqual({ user_ids: ['zoe'] })
})
