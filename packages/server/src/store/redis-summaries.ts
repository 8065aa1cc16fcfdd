// Published process summaries in Redis: one hash with a field per process, whose value is the instant of
// expiry and the text. There are as many as processes, so a reader also deletes the expired ones.
import type { RedisClient } from '../redis/client.ts'
import type { PresenceStore } from './port.ts'

export function createRedisSummaries(
  client: RedisClient,
  prefix: string,
): Pick<PresenceStore, 'publishSummary' | 'summaries'> {
  // Part of the data: processes of different versions read each other during an upgrade.
  const key = `${prefix}{leases}:notices`
  return {
    async publishSummary(name, text, until) {
      await client.send('hset', [key, name, `${until} ${text}`])
    },
    async summaries(now) {
      const listed = (await client.send('hgetall', [key])) as Record<string, string>
      const present = new Map<string, string>()
      const expired: string[] = []
      for (const [name, value] of Object.entries(listed)) {
        const space = value.indexOf(' ')
        if (Number(value.slice(0, space)) > now) present.set(name, value.slice(space + 1))
        else expired.push(name)
      }
      if (expired.length > 0) await client.send('hdel', [key, ...expired])
      return present
    },
  }
}
