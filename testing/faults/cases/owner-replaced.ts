// The streaming deployment loses an owner of users while all users change: killed, or restarted in order. The updates
// of its partitions wait in Kafka until another owner has them; watchers are told late and nothing else.
import { findKafka } from '../../services/kafka.ts'
import { GHOST_MS_MAX, TIMES, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'
import { measureLag } from '../random/run/lag.ts'

const CHANGES_PER_SECOND = 100
const BEFORE_MS = 3_000
const MEANWHILE_MS = 4_000
/** Brokers take no shorter session than this. */
export const KAFKA_SESSION_MS = Math.max(TIMES.gateway_lease_ms, 6_000)
/** A consumer learns at its next heartbeat that the partitions are shared anew, and then begins to read. */
const SHARED_ANEW_MS = 2_000
/** Kafka takes the consumer for dead, then the others share its partitions and work off what waited. */
const TAKEN_OVER_MS = KAFKA_SESSION_MS + SHARED_ANEW_MS + VISIBLE_MS
/** An owner that stops gives its partitions back at once. One comes and one goes for each. */
const RESTARTED_MS = 2 * SHARED_ANEW_MS + VISIBLE_MS

export const ownerKilled: FaultCase = {
  name: 'an owner is killed (Kafka)',
  expectation: 'no false transition, nothing is lost; all states correct within session + 3 s',
  needs: findKafka,
  async run(context) {
    const some = Math.ceil(context.userCount / 50)
    const fixture = await startFixture(context, { hasKafka: true, newcomers: some })
    const { deployment, users, checker, newcomers, pick } = fixture
    const lag = measureLag()
    try {
      checker.begin(TAKEN_OVER_MS + GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(users.all, CHANGES_PER_SECOND)
      await Bun.sleep(context.isQuick ? BEFORE_MS / 3 : BEFORE_MS)
      context.say('killing an owner')
      const killedAt = performance.now()
      await deployment.presences.shift()!.kill()
      for (const how of ['left', 'closed', 'silent'] as const) users.disconnect(pick(users.all, some), how)
      await Promise.all([users.connect(newcomers), Bun.sleep(context.isQuick ? 500 : MEANWHILE_MS)])
      for (const user of pick(users.all, some)) users.setText(user, 'meanwhile')
      stopChanging()
      const stoppedMs = performance.now() - killedAt
      const lateMs = TAKEN_OVER_MS + 2 * lag.worstMs()
      const { left, closed, silent } = GHOST_MS_MAX
      return await fixture.verdict({
        healMsMax: Math.max(VISIBLE_MS, lateMs - stoppedMs),
        ghostMsMax: { left: left + lateMs, closed: closed + lateMs, silent: silent + lateMs },
        notes: [
          `changes went on for ${Math.round(stoppedMs)} ms, timers were ${Math.round(lag.worstMs())} ms late`,
        ],
      })
    } finally {
      lag.stop()
      await fixture.stop()
    }
  },
}

export const ownersRestarted: FaultCase = {
  name: 'all owners restarted, one by one (Kafka)',
  expectation: 'no false offline while partitions move; all states correct within 5 s of the last move',
  needs: findKafka,
  async run(context) {
    const fixture = await startFixture(context, { hasKafka: true })
    const { deployment, users, checker } = fixture
    const lag = measureLag()
    try {
      checker.begin(RESTARTED_MS + GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(users.all, CHANGES_PER_SECOND)
      const startedAt = performance.now()
      for (let round = deployment.presences.length; round > 0; round--) {
        const leaving = deployment.presences.shift()!
        deployment.presences.push(await deployment.start('presence'))
        const stoppingAt = performance.now()
        await leaving.stop()
        context.say(`an owner ended in ${Math.round(performance.now() - stoppingAt)} ms`)
        if (!context.isQuick) await Bun.sleep(BEFORE_MS)
      }
      stopChanging()
      const notes = [`it took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`]
      return await fixture.verdict({ healMsMax: RESTARTED_MS + 2 * lag.worstMs(), notes })
    } finally {
      lag.stop()
      await fixture.stop()
    }
  },
}
