// The fan-out role: consumers of the change log, each a group of its own, so that one that is slow holds up no other.
// Several processes with this role share the partitions of each group. How far a group is behind is looked at now and
// then, for operators.
import type { ChangeLog, Consumption, LogConsumer } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'

const LOOK_EVERY_MS = 5_000
const CATCH_UP_MS = 10

export interface Fanout {
  /** A consumer that comes later and may leave earlier than the others. */
  consume(name: string, consumer: LogConsumer): Promise<Pick<Consumption, 'stop'>>
  /** Entries that each consumer has yet to handle, in the whole deployment; null where the log did not say, or not yet. */
  lags(): Readonly<Record<string, number | null>>
  /** Resolves when everything in the log was handled, or after this time. */
  catchUp(withinMs: number): Promise<void>
  stop(): Promise<void>
}

export interface FanoutParts {
  log: ChangeLog
  consumers: Readonly<Record<string, LogConsumer>>
  clock: Clock
  logger: Logger
}

/** The name of a consumer's group in the log. */
export const groupOf = (consumer: string) => `greendot-${consumer}`

export async function startFanout({ log, consumers, clock, logger }: FanoutParts): Promise<Fanout> {
  const lags: Record<string, number | null> = {}
  const running = new Map<string, Consumption>()

  async function consume(name: string, consumer: LogConsumer): Promise<Pick<Consumption, 'stop'>> {
    const consumption = await log.consume(groupOf(name), 'oldest', consumer)
    running.set(name, consumption)
    lags[name] = null
    void look(name)
    logger.info({ consumer: name }, 'consuming the change log')
    return {
      async stop() {
        running.delete(name)
        delete lags[name]
        await consumption.stop()
      },
    }
  }
  await Promise.all(Object.entries(consumers).map(([name, consumer]) => consume(name, consumer)))

  async function look(name: string): Promise<void> {
    const lag = await log.lag(groupOf(name)).catch(() => null)
    if (running.has(name)) lags[name] = lag
  }
  const timer = clock.every(LOOK_EVERY_MS, () => {
    for (const name of running.keys()) void look(name)
  })

  return {
    consume,
    lags: () => lags,
    async catchUp(withinMs) {
      const until = clock.elapsed() + withinMs
      for (const name of running.keys())
        while (clock.elapsed() < until && (await log.lag(groupOf(name))) > 0) await clock.sleep(CATCH_UP_MS)
    },
    async stop() {
      timer.stop()
      await Promise.all(Array.from(running.values(), (consumption) => consumption.stop()))
    },
  }
}
