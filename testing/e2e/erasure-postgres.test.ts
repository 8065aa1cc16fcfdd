// Erasing a person of a deployment with PostgreSQL: the same as with SQLite, on two servers, and no row
// of the database mentions them after it, nor after they came back as somebody new and were erased again.
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { call } from '../http/calls.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { appearance, erase, liveFully, nextMillisecond, putAs, watcherOf } from './erased-person.ts'
import { isOnline } from './scene.ts'
import { describeWithPairs } from './shared-services.ts'

const ANNA = 'anna-q7x'

/** The rows of all tables in which the text occurs anywhere. */
async function rowsThatMention(databaseUrl: string, text: string): Promise<string[]> {
  const sql = new SQL(databaseUrl, { max: 1 })
  try {
    const tables = (await sql.unsafe(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
    )) as { name: string }[]
    if (!tables.some(({ name }) => name === 'contact'))
      throw new Error('this is not the database of a server')
    const rows: string[] = []
    for (const { name } of tables) {
      const all = (await sql.unsafe(`SELECT row_to_json(t)::text AS row FROM ${name} t`)) as { row: string }[]
      rows.push(...all.filter(({ row }) => row.includes(text)).map(({ row }) => `${name}: ${row}`))
    }
    return rows
  } finally {
    await sql.close()
  }
}

describeWithPairs('erasing a person, with PostgreSQL and Redis', (scene, pair) => {
  const deployment = () => pair({ read_cache_ms: 0 })

  test('[X6] connections end, and every route and row is as if they had never come', async () => {
    const { here, there, databaseUrl } = await deployment()
    const life = await liveFully(scene, here, ANNA)
    const thereToo = await scene.person(there, ANNA)
    expect((await rowsThatMention(databaseUrl, ANNA)).length).toBeGreaterThan(6)
    expect(await rowsThatMention(databaseUrl, life.text)).not.toEqual([])
    expect((await erase(there, ANNA)).status).toBe(204)
    expect(await rowsThatMention(databaseUrl, ANNA)).toEqual([])
    for (const { closed } of [life.socket, thereToo]) expect(await closed).toMatchObject({ code: 4401 })
    expect((await life.stream.ended).how).toBe('whole')
    for (const url of [here, there]) {
      const connections = async () =>
        (await call<{ connections: number }>(url, 'GET', '/api/v1/stats', { token: 'dev' })).body.connections
      await until(WAIT_MS, 'the end of all sessions', async () => (await connections()) === 0)
      expect(await appearance(url, ANNA)).toEqual(await appearance(url, 'never-q7x'))
    }
    expect(await rowsThatMention(databaseUrl, ANNA)).toEqual([])
  })

  test('[X6] whoever comes back is new, and can be erased again', async () => {
    const { here, there, databaseUrl } = await deployment()
    const { socket } = await liveFully(scene, here, ANNA)
    const before = socket.welcome.self.version
    await erase(here, ANNA)
    await socket.closed
    await nextMillisecond()
    const bob = await watcherOf(scene, here, 'bob', [ANNA])
    const back = await scene.person(there, ANNA)
    expect(back.welcome.self).toMatchObject({ status: 'online', custom_status: null, availability: 'auto' })
    expect((await bob.sees(ANNA, isOnline)).presence.version).toBeGreaterThan(before)
    await putAs(here, ANNA, 'contacts', { user_ids: ['bob'] })
    await erase(there, ANNA)
    await back.closed
    expect(await rowsThatMention(databaseUrl, ANNA)).toEqual([])
  })
})
