// Every change comes to the topic of Kafka, in the order of each user and at least once: without what came twice, each
// record says the status that the one before it led to, and the last says that the user is offline. Where Redis lost
// its memory the change log lost it too, and then nothing is checked.
import { CHANGES_TOPIC, type Status, type StatusChangedRecord } from '@greendot/protocol'
import { openKafkaLog } from '../../../../packages/server/src/log/kafka.ts'
import { systemClock } from '../../../../packages/server/src/platform/clock.ts'
import { createLogger } from '../../../../packages/server/src/platform/logger.ts'
import type { History } from '../history/history.ts'
import type { Violation } from './violation.ts'

const CHECK_EVERY_MS = 300
const GROUP = 'random-run'
const LOSES_MEMORY = [
  'store restarted empty',
  'store restarted',
  'store flushed',
  'failover',
  'one master flushed',
]

type Change = Pick<StatusChangedRecord, 'user_id' | 'old_status' | 'new_status' | 'version'>

/** `broker` is asked until all users are offline in the topic, or the time is over. All of them have left. */
export async function checkRelayed(history: History, broker: string, until: number): Promise<Violation[]> {
  if (history.faults.some(({ name }) => LOSES_MEMORY.includes(name))) return []
  const changes: Change[] = []
  const log = await openKafkaLog({
    brokers: [broker],
    topic: CHANGES_TOPIC,
    clock: systemClock,
    logger: createLogger({ level: 'silent' }),
  })
  try {
    await log.consume(GROUP, 'oldest', {
      handle: async (_, entries) => void changes.push(...entries.map(({ text }) => JSON.parse(text))),
    })
    while (true) {
      const found = brokenChains(changes, history.targets.keys())
      if (found.length === 0 || performance.now() > until) return found
      await Bun.sleep(CHECK_EVERY_MS)
    }
  } finally {
    await log.close()
  }
}

/** What is not as it should be in the changes of these users, who are all offline now. */
export function brokenChains(changes: readonly Change[], userIds: Iterable<string>): Violation[] {
  const at = performance.now()
  const last = new Map<string, { status: Status; version: number }>()
  const found: Violation[] = []
  const say = (target: string, what: string) => found.push({ check: 'relayed', at, target, what })
  for (const { user_id: id, old_status, new_status, version } of changes) {
    const before = last.get(id) ?? { status: 'offline', version: 0 }
    if (version <= before.version) continue
    if (old_status !== before.status)
      say(id, `version ${version} of ${id} was ${old_status} before; the topic had ${before.status}`)
    last.set(id, { status: new_status, version })
  }
  for (const id of userIds) {
    const { status } = last.get(id) ?? { status: 'offline' }
    if (status !== 'offline') say(id, `the last change of ${id} in the topic is to ${status}`)
  }
  return found
}
