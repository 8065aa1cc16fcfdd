// What the change log takes of Redis for each change, by Redis's own counters: commits that put a record into the log,
// beside the same commits without it, in turns.
import { constantReading, median, type Reading } from './measure.ts'
import type { OwnRedis } from './setup/redis.ts'

/** Batches of a turn. */
const BATCHES = 40

/** Work in batches that counts what it has done. */
export interface Going {
  done: number
  batch(): Promise<void>
}

interface Spent {
  calls: number
  commands: number
  redisUs: number
  redisBytes: number
  hereUs: number
}

/** Both sides have changed all their users before. */
export async function costOfLog(
  redis: OwnRedis,
  rounds: number,
  logged: Going,
  plain: Going,
): Promise<Reading[]> {
  const taken: { on: Spent; off: Spent }[] = []
  for (let round = 0; round < rounds; round++)
    taken.push({ on: await spentBy(redis, logged), off: await spentBy(redis, plain) })
  const reading = (name: string, unit: string, pick: (spent: Spent) => number): Reading => ({
    name: `${name}, with the log`,
    unit,
    ours: median(taken.map((one) => pick(one.on))),
    bare: median(taken.map((one) => pick(one.off))),
    ratio: median(taken.map((one) => pick(one.on) / pick(one.off))),
  })
  const more = (pick: (spent: Spent) => number) =>
    Math.max(0, median(taken.map((one) => pick(one.on) - pick(one.off))))
  return [
    reading('calls of Redis per 1,000 changes', 'calls', ({ calls }) => calls * 1_000),
    reading('commands of Redis per change', 'commands', ({ commands }) => commands),
    reading('CPU of Redis per change', 'µs', ({ redisUs }) => redisUs),
    reading('CPU of this process per change', 'µs', ({ hereUs }) => hereUs),
    constantReading(
      'record of a change, CPU of Redis',
      'µs',
      more(({ redisUs }) => redisUs),
      'redis_log_us',
    ),
    constantReading(
      'record of a change in Redis',
      'bytes',
      more(({ redisBytes }) => redisBytes),
      'redis_log_bytes',
    ),
  ]
}

async function spentBy(redis: OwnRedis, going: Going): Promise<Spent> {
  const [first, cpu, counted] = [going.done, await redis.cpuSeconds(), await redis.commands()]
  const bytes = await redis.usedBytes()
  const here = process.cpuUsage()
  for (let batch = 0; batch < BATCHES; batch++) await going.batch()
  const { user, system } = process.cpuUsage(here)
  const changes = going.done - first
  const after = await redis.commands()
  return {
    calls: (after.calls - counted.calls) / changes,
    commands: (after.all - counted.all) / changes,
    redisUs: (((await redis.cpuSeconds()) - cpu) / changes) * 1e6,
    redisBytes: ((await redis.usedBytes()) - bytes) / changes,
    hereUs: (user + system) / changes,
  }
}
