// The fan-out role: consumers of the change log, each a group of its own, so that one that is slow holds up no other.
// Several processes with this role share the partitions of each group. How far a group is behind is looked at now and
// then, for operators.
import type { ChangeLog, LogConsumer } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'

const LOOK_EVERY_MS = 5_000

export interface Fanout {
  /** Entries that each consumer has yet to handle, in the whole deployment; null where the log did not say. */
  lags(): Readonly<Record<string, number | null>>
  stop(): Promise<void>
}

export interface FanoutParts {
  log: ChangeLog
  consumers: Readonly<Record<string, LogConsumer>>
  clock: Clock
  logger: Logger
}

/** The name of a consumer's group in the log. */
const groupOf = (consumer: string) => `greendot-${consumer}`

export async function startFanout({ log, consumers, clock, logger }: FanoutParts): Promise<Fanout> {
  const names = Object.keys(consumers)
  const lags: Record<string, number | null> = Object.fromEntries(names.map((name) => [name, 0]))
  const running = await Promise.all(
    names.map((name) => log.consume(groupOf(name), 'oldest', consumers[name]!)),
  )
  if (names.length > 0) logger.info({ consumers: names }, 'consuming the change log')

  async function look(): Promise<void> {
    for (const name of names) lags[name] = await log.lag(groupOf(name)).catch(() => null)
  }
  const timer = clock.every(LOOK_EVERY_MS, () => void look())

  return {
    lags: () => lags,
    async stop() {
      timer.stop()
      await Promise.all(running.map((consumption) => consumption.stop()))
    },
  }
}
