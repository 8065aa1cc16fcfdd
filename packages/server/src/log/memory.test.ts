import { changeLogContract } from '../../../../testing/contracts/change-log.ts'
import { systemClock } from '../platform/clock.ts'
import { createLogger } from '../platform/logger.ts'
import { createMemoryLog } from './memory.ts'

const quiet = createLogger({ level: 'silent' })

function make(entriesMax?: number) {
  const log = createMemoryLog({
    partitionCount: 4,
    clock: systemClock,
    logger: quiet,
    pauseMs: 1,
    ...(entriesMax === undefined ? {} : { entriesMax }),
  })
  // There is no other process: all of them are this one.
  return Promise.resolve({ open: async () => log })
}

changeLogContract('memory', { isShared: false, make: () => make(), makeSmall: () => make(10) })
