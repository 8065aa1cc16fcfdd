// A consumer of a change log in a process of its own, for tests that kill it. Started as a program, this file opens the
// log that its argument describes and prints how many records it has handled.
import { openKafkaLog } from '../../packages/server/src/log/kafka.ts'
import type { ChangeLog } from '../../packages/server/src/log/port.ts'
import { createRedisLog } from '../../packages/server/src/log/redis.ts'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { tellReaper } from '../services/reaper.ts'
import { WAIT_MS, within } from '../services/within.ts'
import type { DoomedConsumer } from './change-log-under-test.ts'
import { connect } from './redis-under-test.ts'

export type DoomedLog =
  | { kind: 'redis'; url: string; prefix: string; shards: number; leaseMs: number }
  | { kind: 'kafka'; broker: string; topic: string; sessionMs: number }

export async function startDoomed(log: DoomedLog, group: string): Promise<DoomedConsumer> {
  const child = Bun.spawn({
    cmd: [process.execPath, import.meta.path, JSON.stringify({ log, group })],
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  tellReaper({ about: 'started', pid: child.pid, signal: 'SIGKILL' })
  let count = -1
  let look = (): void => {}
  const reading = (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      text += decoder.decode(chunk, { stream: true })
      const lines = text.split('\n')
      text = lines.pop()!
      if (lines.length > 0) count = Number(lines.at(-1))
      look()
    }
  })()

  function handled(wanted: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    look = () => {
      if (count >= wanted) resolve()
    }
    look()
    return within(WAIT_MS, `${wanted} records in another process, which handled ${count},`, promise)
  }

  await handled(0)
  return {
    handled,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
      await reading
      tellReaper({ about: 'ended', pid: child.pid })
    },
  }
}

async function openLog(log: DoomedLog): Promise<ChangeLog> {
  const logger = createLogger({ level: 'silent' })
  if (log.kind === 'kafka') {
    const { broker, topic, sessionMs } = log
    return openKafkaLog({ brokers: [broker], topic, sessionMs, clock: systemClock, logger })
  }
  const { url, prefix, shards, leaseMs } = log
  const client = await connect(url)
  return createRedisLog({ client, clock: systemClock, logger, prefix, shards, leaseMs })
}

async function main(): Promise<void> {
  const { log: described, group } = JSON.parse(process.argv[2]!) as { log: DoomedLog; group: string }
  const log = await openLog(described)
  let count = 0
  const assigned = Promise.withResolvers<void>()
  let missing = log.partitionCount
  await log.consume(group, 'oldest', {
    async handle(_, entries) {
      count += entries.length
      process.stdout.write(`${count}\n`)
    },
    onAssigned(partitions) {
      missing -= partitions.length
      if (missing === 0) assigned.resolve()
    },
  })
  await assigned.promise
  process.stdout.write(`${count}\n`)
}

if (import.meta.main) await main()
