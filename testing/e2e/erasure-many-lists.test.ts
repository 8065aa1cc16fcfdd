// Erasing a user whom ten thousand others have on their lists reaches all of them.
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

/** A database in which every owner has the star on their list, as a backend would have filled it. */
async function folderWithOwners(): Promise<string> {
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

test('[X6] a user in ten thousand contact lists is erased from all of them', async () => {
  const folder = await folderWithOwners()
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

  const since = followers.map(({ heard }) => heard.length)
  expect((await erase(url, STAR)).status).toBe(204)
  const isGone = ({ version }: { version: number }) => version === 0
  for (const [n, follower] of followers.entries()) await follower.sees(STAR, isGone, { since: since[n]! })

  expect(rowsThatMention({ folder }, STAR)).toEqual([])
  const { body } = await call(url, 'GET', '/api/v1/users/owner-9999/contacts', { token: 'dev' })
  expect(body).toEqual({ user_ids: ['zoe'] })
})
