// Hands a batch of one partition to its consumer. A batch that was rejected is handed out again after a pause that
// grows, because nothing after it may come first. One log line for each row of rejections, not for each attempt.
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { LogConsumer, LogEntry } from './port.ts'

const PAUSE_MS_MAX = 2_000

export interface HandingParts {
  group: string
  consumer: LogConsumer
  /** The first pause. */
  pauseMs: number
  clock: Clock
  logger: Logger
}

export interface Handing {
  /** True once the batch was handled; false when `isOver` said so after a rejection. */
  hand(partition: number, entries: readonly LogEntry[], isOver: () => boolean): Promise<boolean>
  /** Ends all pauses, so that `isOver` is asked now. */
  wake(): void
}

export function createHanding({ group, consumer, pauseMs, clock, logger }: HandingParts): Handing {
  const pauses = new Set<() => void>()

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.stop()
        pauses.delete(end)
        resolve()
      }
      const timer = clock.after(ms, end)
      pauses.add(end)
    })
  }

  return {
    async hand(partition, entries, isOver) {
      for (let failures = 0; ; failures++) {
        try {
          await consumer.handle(partition, entries)
          if (failures > 0) logger.info({ group, partition }, 'the records are handled now')
          return true
        } catch (error) {
          if (failures === 0) logger.warn({ err: error, group, partition }, 'records are handed out again')
        }
        if (isOver()) return false
        await pause(Math.min(pauseMs * 2 ** failures, PAUSE_MS_MAX))
        if (isOver()) return false
      }
    },
    wake() {
      for (const end of pauses) end()
    },
  }
}
