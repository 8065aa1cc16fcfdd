// PostgreSQL hangs, then dies, and is back after a while. Connecting, changing and watching go on as if
// nothing were; what should have been written meanwhile is written afterwards.
import { SQL } from 'bun'
import { until } from '../../services/within.ts'
import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, lateGhosts, setScene } from '../fixture.ts'
import type { Person } from '../users.ts'

const STIRRED_PER_SECOND = 50
const HANG_MS = 8_000
const DOWN_MS = 22_000
const QUICK_SHARE = 0.25
/** A server that hangs is given up after 2 s, and people may wait for that twice: to be read, to be written. */
const GIVEN_UP_MS = 4_000
const WRITTEN_MS_MAX = 10_000
const ARRIVAL_MS_MAX = 10_000

export const postgresDown: FaultCase = {
  name: 'PostgreSQL is away for 30 s',
  expectation: 'nothing is seen of it, people come and go; every last seen is written afterwards',
  async run(context) {
    const share = context.isQuick ? QUICK_SHARE : 1
    const some = Math.ceil(context.users / 50)
    const scene = await setScene(context, { newcomers: some * 2 })
    const { world, crowd, checker, still, lively, newcomers, take } = scene
    const { postgres } = context
    const problems: string[] = []
    const gone: Person[] = []
    let worstArrivalMs = 0

    async function comeAndGo(coming: readonly Person[]): Promise<void> {
      for (const how of ['left', 'closed', 'silent'] as const) {
        const going = take(still, some)
        gone.push(...going)
        crowd.depart(going, how)
      }
      const startedAt = performance.now()
      await crowd.arrive(coming)
      worstArrivalMs = Math.max(worstArrivalMs, performance.now() - startedAt)
      for (const person of take(still, some)) crowd.say(person, 'meanwhile')
    }

    try {
      checker.begin(GHOST_MS_MAX['cut off'] + GIVEN_UP_MS)
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      context.say('PostgreSQL hangs')
      await postgres.pause()
      await comeAndGo(newcomers.slice(0, some))
      await Bun.sleep(Math.max(HANG_MS * share, GHOST_MS_MAX.silent + GIVEN_UP_MS))
      const { left, closed, silent } = GHOST_MS_MAX
      const late = (ms: number) => ms + GIVEN_UP_MS
      const hangBounds = { ...GHOST_MS_MAX, left: late(left), closed: late(closed), silent: late(silent) }
      problems.push(...lateGhosts(checker.ghosts(), hangBounds))
      const worstMs = Math.max(...checker.ghosts().map(({ goneAt, seenAt }) => (seenAt ?? Infinity) - goneAt))
      checker.forgetGhosts()
      context.say('PostgreSQL is killed')
      await postgres.kill('SIGKILL')
      await comeAndGo(newcomers.slice(some))
      await Bun.sleep(DOWN_MS * share)
      calm()
      await Bun.sleep(1_000)
      const waiting = crowd.disagreements().length
      if (waiting > 0) problems.push(`${waiting} beliefs were wrong while it was away`)
      await postgres.restart()
      context.say('PostgreSQL is back')
      const backAt = performance.now()
      let missing = ''
      await until(WRITTEN_MS_MAX, 'writing what had waited', async () => {
        missing = await unwritten(world.databaseUrl, gone, newcomers, crowd.people)
        return missing === ''
      }).catch(() => problems.push(`not written: ${missing}`))
      const writtenMs = performance.now() - backAt
      if (worstArrivalMs > ARRIVAL_MS_MAX) problems.push(`letting people in took ${worstArrivalMs} ms`)
      const notes = [
        `while it hung, departures were seen after ${Math.round(worstMs)} ms at the latest`,
        `${newcomers.length} let in within ${Math.round(worstArrivalMs)} ms, ${gone.length} departures written after ${Math.round(writtenMs)} ms`,
      ]
      return await scene.conclude({ healMsMax: 1_000, problems, notes })
    } finally {
      await postgres.resume()
      await scene.stop()
    }
  },
}

/** Whose rows are not yet what they must be, in words; '' when all are. */
async function unwritten(
  url: string,
  gone: readonly Person[],
  here: readonly Person[],
  people: readonly Person[],
): Promise<string> {
  const sql = new SQL(url, { max: 1 })
  try {
    const seen = await sql.unsafe<{ user_id: string; status: string; last_seen_at: unknown }[]>(
      'SELECT user_id, status, last_seen_at FROM user_last_seen',
    )
    const status = new Map(seen.map((row) => [row.user_id, row.last_seen_at === null ? '' : row.status]))
    const texts = await sql.unsafe<{ user_id: string; custom_text: string | null }[]>(
      'SELECT user_id, custom_text FROM user_settings',
    )
    const text = new Map(texts.map((row) => [row.user_id, row.custom_text ?? '']))
    const ofGone = gone.filter(({ id }) => status.get(id) !== 'offline').length
    const ofHere = here.filter(({ id }) => status.get(id) !== 'here').length
    const ofTexts = people.filter((one) => (text.get(one.id) ?? '') !== one.text.current()).length
    if (ofGone + ofHere + ofTexts === 0) return ''
    return `${ofGone} departures, ${ofHere} arrivals, ${ofTexts} texts`
  } catch (error) {
    return String(error)
  } finally {
    await sql.close({ timeout: 0 })
  }
}
