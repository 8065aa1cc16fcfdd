// Notices in Redis: one hash, a field for each process, with the instant it runs out before its text.
// There are as many as processes, so whoever reads them all may throw out the old ones.
import type { RedisClient } from '../redis/client.ts'
import type { PresenceStore } from './port.ts'

export function createRedisSummaries(
  client: RedisClient,
  prefix: string,
): Pick<PresenceStore, 'publishSummary' | 'summaries'> {
  const key = `${prefix}{leases}:notices`
  return {
    async publishSummary(name, text, until) {
      await client.send('hset', [key, name, `${until} ${text}`])
    },
    async summaries(now) {
      // The client makes an object of it.
      const listed = (await client.send('hgetall', [key])) as Record<string, string>
      const present = new Map<string, string>()
      const old: string[] = []
      for (const [name, value] of Object.entries(listed)) {
        const space = value.indexOf(' ')
        if (Number(value.slice(0, space)) > now) present.set(name, value.slice(space + 1))
        else old.push(name)
      }
      if (old.length > 0) await client.send('hdel', [key, ...old])
      return present
    },
  }
}
