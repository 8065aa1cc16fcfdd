// PostgreSQL hangs, then dies, and is restarted. Connecting, leaving and watching go on meanwhile; rows of that time are
// written after the restart. Users who come meanwhile and whom Redis does not know are hidden until then, because what they
// chose cannot be read.
import { SQL } from 'bun'
import { until } from '../../services/within.ts'
import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, lateGhosts, startFixture } from '../fixture.ts'
import type { User } from '../users.ts'

const CHANGES_PER_SECOND = 50
const HANG_MS = 8_000
const DOWN_MS = 22_000
const QUICK_SHARE = 0.25
/** A statement times out after 2 s, and a change may wait for two of them: a read and a write. */
const TIMEOUTS_MS = 4_000
const WRITTEN_MS_MAX = 10_000
const CONNECT_MS_MAX = 10_000
/** After a failure the archive is not asked for a second, and sweepers ask for unknown settings once a second. */
const REVEALED_MS_MAX = 5_000

export const postgresDown: FaultCase = {
  name: 'PostgreSQL is away for 30 s',
  expectation:
    'no visible change, users leave; those who come are hidden until it is back; then every row is written',
  async run(context) {
    const share = context.isQuick ? QUICK_SHARE : 1
    const some = Math.ceil(context.userCount / 50)
    const fixture = await startFixture(context, { newcomers: some * 2 })
    const { deployment, users, checker, steady, changing, newcomers, pick } = fixture
    const { postgres } = context
    const problems: string[] = []
    const gone: User[] = []
    let worstConnectMs = 0

    async function connectAndLeave(connecting: readonly User[]): Promise<void> {
      for (const how of ['left', 'closed', 'silent'] as const) {
        const leaving = pick(steady, some)
        gone.push(...leaving)
        users.disconnect(leaving, how)
      }
      const startedAt = performance.now()
      await users.connect(connecting)
      worstConnectMs = Math.max(worstConnectMs, performance.now() - startedAt)
    }

    try {
      checker.begin(GHOST_MS_MAX['cut off'] + TIMEOUTS_MS)
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      context.say('PostgreSQL hangs')
      await postgres.pause()
      await connectAndLeave(newcomers.slice(0, some))
      await Bun.sleep(Math.max(HANG_MS * share, GHOST_MS_MAX.silent + TIMEOUTS_MS))
      const { left, closed, silent } = GHOST_MS_MAX
      const late = (ms: number) => ms + TIMEOUTS_MS
      const hangBounds = { ...GHOST_MS_MAX, left: late(left), closed: late(closed), silent: late(silent) }
      problems.push(...lateGhosts(checker.ghosts(), hangBounds))
      const worstMs = Math.max(...checker.ghosts().map(({ goneAt, seenAt }) => (seenAt ?? Infinity) - goneAt))
      checker.forgetGhosts()
      context.say('PostgreSQL is killed')
      await postgres.kill('SIGKILL')
      await connectAndLeave(newcomers.slice(some))
      await Bun.sleep(DOWN_MS * share)
      stopChanging()
      await Bun.sleep(1_000)
      const newcomerIds = new Set(newcomers.map(({ id }) => id))
      const wrong = users.disagreements().filter(({ about, shown }) => {
        const isHidden = shown === undefined || shown.status === 'offline'
        return !newcomerIds.has(about) || !isHidden
      })
      if (wrong.length > 0) problems.push(`${wrong.length} states at watchers were wrong while it was away`)
      await postgres.restart()
      context.say('PostgreSQL is back')
      const backAt = performance.now()
      let missing = ''
      await until(WRITTEN_MS_MAX, 'writing the waiting rows', async () => {
        missing = await unwritten(deployment.databaseUrl, gone, newcomers, users.all)
        return missing === ''
      }).catch(() => problems.push(`not written: ${missing}`))
      const writtenMs = performance.now() - backAt
      if (worstConnectMs > CONNECT_MS_MAX) problems.push(`connecting users took ${worstConnectMs} ms`)
      const notes = [
        `while it hung, departures were visible after ${Math.round(worstMs)} ms at the latest`,
        `${newcomers.length} users connected within ${Math.round(worstConnectMs)} ms, ${gone.length} departures written after ${Math.round(writtenMs)} ms`,
      ]
      return await fixture.verdict({ healMsMax: REVEALED_MS_MAX, problems, notes })
    } finally {
      await postgres.resume()
      await fixture.stop()
    }
  },
}

/** Counts the rows that are missing or old, as a text; '' when there are none. */
async function unwritten(
  url: string,
  gone: readonly User[],
  connected: readonly User[],
  all: readonly User[],
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
    const ofHere = connected.filter(({ id }) => status.get(id) !== 'here').length
    const ofTexts = all.filter((one) => (text.get(one.id) ?? '') !== one.text.current()).length
    if (ofGone + ofHere + ofTexts === 0) return ''
    return `${ofGone} departures, ${ofHere} connects, ${ofTexts} texts`
  } catch (error) {
    return String(error)
  } finally {
    await sql.close({ timeout: 0 })
  }
}
