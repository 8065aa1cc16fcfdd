// Erasing a person while PostgreSQL goes away: either nothing is erased and the person is as before, or
// the erasure is finished, by itself or by asking again. It is never undone.
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { until, WAIT_MS } from '../services/within.ts'
import { appearance, erase, forgetWhatIsPast, liveFully, watcherOf } from './erased-person.ts'
import { describeWithOutages, holdTable, isWhole } from './outages.ts'
import { call, isStatus } from './scene.ts'

const DAN = 'dan-q7x'
/** Longer than the mark of a finished erasure stays. */
const LATER_MS = 70_000

/** How many rows tell of dan, in all that he wrote and all lists. */
async function rowsOfDan(databaseUrl: string): Promise<number> {
  const sql = new SQL(databaseUrl, { max: 1 })
  try {
    const [rows] = (await sql.unsafe(
      `SELECT (SELECT count(*) FROM user_last_seen WHERE user_id = $1)
            + (SELECT count(*) FROM user_settings WHERE user_id = $1)
            + (SELECT count(*) FROM user_privacy t WHERE row_to_json(t)::text LIKE '%' || $1 || '%')
            + (SELECT count(*) FROM contact WHERE $1 IN (owner_id, contact_id)) AS count`,
      [DAN],
    )) as { count: string }[]
    return Number(rows!.count)
  } finally {
    await sql.close()
  }
}

/** What the app, which sees the truth, reads of a user. */
async function seen(url: string, userId: string): Promise<object> {
  const { body } = await call<object>(url, 'dev', 'GET', `/api/v1/presence/${userId}`)
  return { ...body, user_id: '' }
}

describeWithOutages('erasing a person while PostgreSQL goes away', (scene, services, settings) => {
  test('[X6] one that cannot be finished is not begun', async () => {
    const shared = await settings()
    const { url } = await scene.server(shared)
    const { socket } = await liveFully(scene, url, DAN)
    const eve = await watcherOf(scene, url, 'eve', [DAN])
    await eve.sees(DAN, isStatus('busy'))
    const before = await rowsOfDan(shared.database_url)
    await services().postgres.pause()
    try {
      expect((await erase(url, DAN)).status).toBe(503)
    } finally {
      await services().postgres.resume()
    }
    await isWhole(url)
    expect(await rowsOfDan(shared.database_url)).toBe(before)
    const since = eve.heard.length
    socket.send({ type: 'set_availability', status: 'away' })
    await eve.sees(DAN, isStatus('away'), { since })
    expect((await erase(url, DAN)).status).toBe(204)
    await eve.sees(DAN, ({ version }) => version === 0, { since })
    expect(await rowsOfDan(shared.database_url)).toBe(0)
  })

  test('[X6] one that has begun finishes by itself', async () => {
    const shared = await settings()
    const { url } = await scene.server(shared)
    const { socket } = await liveFully(scene, url, DAN)
    const held = await holdTable(shared.database_url, 'user_last_seen')
    const erased = erase(url, DAN)
    await held.isWaitedFor()
    await services().postgres.kill('SIGQUIT')
    await held.release()
    expect((await erased).status).toBe(503)
    expect(await socket.closed).toMatchObject({ code: 4401 })
    await services().postgres.restart()
    await until(WAIT_MS, 'the end of the erasure', async () => (await rowsOfDan(shared.database_url)) === 0)
    expect(await appearance(url, DAN)).toEqual(await appearance(url, 'never-q7x'))
  })

  test('[X6] one that a process died over is finished by asking again', async () => {
    const shared = await settings()
    const first = await scene.process(shared)
    await liveFully(scene, first.url, DAN)
    const held = await holdTable(shared.database_url, 'user_last_seen')
    const erased = erase(first.url, DAN).catch(() => 'cut off')
    await held.isWaitedFor()
    await first.kill()
    expect(await erased).toBe('cut off')
    await held.release()
    const { url } = await scene.server(shared)
    expect(await rowsOfDan(shared.database_url)).toBeGreaterThan(0)
    await forgetWhatIsPast(services().redis.url, LATER_MS)
    expect(await seen(url, DAN)).toEqual(await seen(url, 'never-q7x'))
    expect((await erase(url, DAN)).status).toBe(204)
    expect(await rowsOfDan(shared.database_url)).toBe(0)
    expect(await appearance(url, DAN)).toEqual(await appearance(url, 'never-q7x'))
  })
})
