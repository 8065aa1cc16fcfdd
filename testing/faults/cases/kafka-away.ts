// Kafka is away or frozen for a while, with all its data. Meanwhile connections stay, choices are refused, queries are
// answered from Redis and watchers see no change. What users did meanwhile is shown when it is back: gateways announce
// their sessions, and owners work off what waited.
import { findKafka, type Kafka } from '../../services/kafka.ts'
import { GHOST_MS_MAX, TIMES, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'
import { sampleQueries } from '../queries.ts'
import { request } from '../random/clients/requests.ts'
import { measureLag } from '../random/run/lag.ts'
import type { User } from '../users.ts'
import { KAFKA_SESSION_MS } from './owner-replaced.ts'

const CHANGES_PER_SECOND = 20
/** Owners try to join again every 2 s. */
const JOIN_AGAIN_MS = 2_000
/** Gateways try to announce themselves every second. */
const ANNOUNCED_MS = 2_000
/** After it announced itself, a gateway declares what is left under its former name lost. */
const FINISHED_MS = 3_000
/** Kafka waits for the consumers of before until their session is over. Then gateways announce what is. */
const HEAL_MS_MAX =
  JOIN_AGAIN_MS + KAFKA_SESSION_MS + ANNOUNCED_MS + FINISHED_MS + TIMES.offline_delay_ms + VISIBLE_MS
/** An append is given up after 5 s. */
const NOTICED_MS = 5_000
const SAMPLE_EVERY_MS = 500

interface Outage {
  name: string
  outageMs: number
  outageQuickMs: number
  begin(kafka: Kafka): Promise<void> | void
  end(kafka: Kafka): Promise<void> | void
}

function outageOf({ name, outageMs, outageQuickMs, begin, end }: Outage): FaultCase {
  return {
    name,
    expectation: `connections stay, choices are refused, no flicker; all states correct within ${HEAL_MS_MAX / 1000} s of its return`,
    needs: findKafka,
    async run(context) {
      const some = Math.ceil(context.userCount / 50)
      const fixture = await startFixture(context, { hasKafka: true, newcomers: some })
      const { deployment, users, checker, steady, changing, newcomers, pick } = fixture
      const kafka = deployment.kafka()
      const lag = measureLag()
      const problems: string[] = []
      try {
        const lastsMs = context.isQuick ? outageQuickMs : outageMs
        checker.begin(lastsMs + NOTICED_MS + HEAL_MS_MAX + GHOST_MS_MAX['cut off'])
        const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
        await Bun.sleep(1_000)
        // They come back while it is away. Their deadline must not be acted on before their gateway has said so.
        const blinking = pick(steady, some)
        for (const user of blinking) user.client.terminate()
        await Bun.sleep(TIMES.offline_delay_ms / 3)
        context.say('Kafka goes away')
        const awayAt = performance.now()
        await begin(kafka)
        const samplings = [deployment.gateways[0]!, deployment.presences[0]!].map(({ url }) =>
          sampleQueries(url, steady),
        )
        const choices = sampleChoices(deployment.gateways.at(-1)!.url)
        await users.connect([...blinking, ...newcomers])
        const staying = sampleConnections(pick(steady, some))
        for (const how of ['left', 'closed', 'silent'] as const) users.disconnect(pick(steady, some), how)
        for (const user of pick(steady, some)) users.setText(user, 'meanwhile')
        // The last choices are refused while it is still away.
        await Bun.sleep(Math.max(0, awayAt + lastsMs - NOTICED_MS - performance.now()))
        const codes = await choices.stop()
        await Bun.sleep(Math.max(0, awayAt + lastsMs - performance.now()))
        stopChanging()
        const samples = samplings.flatMap((sampling) => sampling.stop())
        const bad = samples.filter(({ code, isDegraded }) => code !== 200 || isDegraded)
        if (bad.length > 0)
          problems.push(`${bad.length} of ${samples.length} queries failed or were degraded`)
        const lost = staying.stop()
        if (lost > 0) problems.push(`${lost} times a connection was not there`)
        const taken = codes.filter((code) => code !== 503)
        if (codes.length === 0 || taken.length > 0)
          problems.push(`choices were answered with ${taken.join(', ') || 'nothing'}`)
        await end(kafka)
        context.say(`Kafka is back after ${((performance.now() - awayAt) / 1000).toFixed(1)} s`)
        const healMsMax = HEAL_MS_MAX + 2 * lag.worstMs()
        const waitedMs = performance.now() - awayAt + healMsMax
        const ghostMsMax = { left: waitedMs, closed: waitedMs, silent: waitedMs }
        const notes = [`${codes.length} choices were refused, ${samples.length} queries answered`]
        return await fixture.verdict({ healMsMax, ghostMsMax, problems, notes })
      } finally {
        lag.stop()
        kafka.thaw()
        await fixture.stop()
      }
    },
  }
}

/** One user after the other chooses a text. Returns the status codes. */
function sampleChoices(url: string): { stop(): Promise<number[]> } {
  const codes: Promise<number>[] = []
  const timer = setInterval(() => {
    const chosen = request(`${url}/api/v1/presence/status`, 'PUT', `dev:chooser-${codes.length}`, {
      text: 'unheard',
    })
    codes.push(
      chosen.then(
        ({ status }) => status,
        () => 0,
      ),
    )
  }, SAMPLE_EVERY_MS)
  return {
    stop() {
      clearInterval(timer)
      return Promise.all(codes)
    },
  }
}

/** How often one of these users was found without a connection. */
function sampleConnections(staying: readonly User[]): { stop(): number } {
  let lost = 0
  const on = new Map(staying.map((user) => [user, user.client.url()]))
  const timer = setInterval(() => {
    for (const [user, url] of on) if (!user.client.isReady() || user.client.url() !== url) lost++
  }, SAMPLE_EVERY_MS)
  return {
    stop() {
      clearInterval(timer)
      return lost
    },
  }
}

export const kafkaAway = outageOf({
  name: 'Kafka is away for 30 s',
  outageMs: 30_000,
  outageQuickMs: 8_000,
  begin: (kafka) => kafka.kill(),
  end: (kafka) => kafka.restart(),
})

export const kafkaFrozen = outageOf({
  name: 'Kafka does not answer for 10 s',
  outageMs: 10_000,
  outageQuickMs: 7_000,
  begin: (kafka) => kafka.freeze(),
  end: (kafka) => kafka.thaw(),
})
