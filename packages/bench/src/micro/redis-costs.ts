// What Redis spends, by its own counters, and what a gateway spends on the same: a user, the interest of a
// gateway in a user, a load, a commit, a message. Beside it the same for the textbook design: keys with a
// time to live and a channel for each user. One gateway of many is seldom busy, so loads and commits go one
// at a time here, which is the worst case; keys are written 50 at a time.
import type { Activity } from '@greendot/protocol'
import type { Bus } from '../../../server/src/bus/port.ts'
import { createRedisBus } from '../../../server/src/bus/redis.ts'
import { chunksOf } from '../../../server/src/platform/chunks.ts'
import { systemClock as clock } from '../../../server/src/platform/clock.ts'
import type { Commit } from '../../../server/src/store/port.ts'
import { constantReading, type Micro, type Reading } from './measure.ts'
import { missingRedis, type OwnRedis, withRedis } from './setup/redis.ts'
import { arrived, userName } from './setup/users.ts'

const USERS = 20_000
const ALL_USERS = Array.from({ length: USERS }, (_, user) => user)
const BATCH = 500
const GATEWAYS = 5
/** As long as the ids of gateways. */
const gatewayName = (gateway: number): string => `g-${String(gateway).padStart(16, '0')}`
/** A client's contacts, which are spread over the shards. */
const CONTACTS = 100
/** How often something is done by itself to see what it costs. */
const TIMES = 2_000
/** Gateways that one change goes to, each on a connection of its own. */
const INTERESTED = 30
const CHANGES = 200
const KEYS_AT_A_TIME = 50
const KEY_TTL_SECONDS = 60
const CHANGE_JSON =
  '{"user_id":"user-0","status":"away","last_seen":1763200000000,"custom_status":null,"devices":["web"],"version":59045206}'

export const redisCosts: Micro = {
  name: 'redis',
  about: 'memory and CPU time that users, interest and changes take in Redis',
  missing: missingRedis,
  run: () => withRedis(measure),
}

async function measure(redis: OwnRedis): Promise<Reading[]> {
  const { store, connection } = redis
  const revisions: number[] = []

  async function commit(users: readonly number[], activity: Activity): Promise<void> {
    const commits = users.map((user): Commit => {
      const expectedRevision = revisions[user] ?? 0
      const record = arrived(user, activity)
      return { userId: userName(user), expectedRevision, record, dueAt: null, retainUntil: null }
    })
    for (const [index, result] of (await store.commit(commits)).entries()) {
      if (result.outcome === 'conflict') throw new Error('a commit conflicts although there is one writer')
      revisions[users[index]!] = result.revision
    }
  }

  const arriving = await cost(redis, USERS, async () => {
    for (const users of chunksOf(ALL_USERS, BATCH)) await commit(users, 'active')
  })
  const loadOnes = async () => {
    for (let user = 0; user < TIMES; user++) await store.load([userName(user)])
  }
  const flipOnes = async () => {
    const activity = (flips++ & 1) === 0 ? 'idle' : 'active'
    for (let user = 0; user < TIMES; user++) await commit([user], activity)
  }
  let flips = 0
  // Code that is not compiled yet would be measured, too.
  await loadOnes()
  await flipOnes()
  const loading = await cost(redis, TIMES, loadOnes)
  const changing = await cost(redis, TIMES, flipOnes)
  const reading = await cost(redis, USERS, async () => {
    for (const users of chunksOf(ALL_USERS, CONTACTS)) await store.load(users.map(userName))
  })
  const watching = await cost(redis, USERS * GATEWAYS, async () => {
    for (let gateway = 0; gateway < GATEWAYS; gateway++) {
      for (const users of chunksOf(ALL_USERS, CONTACTS)) {
        await store.addInterest(gatewayName(gateway), users.map(userName))
      }
    }
  })
  const bus = createRedisBus({ connection, clock })
  const passOn = await passingOn(bus)
  await passOn()
  const passing = await cost(redis, CHANGES * INTERESTED, passOn)
  await bus.close()
  return [
    constantReading('user in Redis', 'bytes', arriving.redisBytes, 'redis_user_bytes'),
    constantReading('interest in Redis', 'bytes', watching.redisBytes, 'redis_interest_bytes'),
    constantReading('load, CPU of Redis', 'µs', loading.redisUs, 'redis_load_us'),
    constantReading('load, CPU of a gateway', 'µs', loading.hereUs, 'load_cpu_us'),
    constantReading('commit, CPU of Redis', 'µs', changing.redisUs, 'redis_commit_us'),
    constantReading('commit, CPU of a gateway', 'µs', changing.hereUs, 'commit_cpu_us'),
    constantReading('read of 100, each, CPU of Redis', 'µs', reading.redisUs, 'redis_read_us'),
    constantReading('read of 100, each, CPU of a gateway', 'µs', reading.hereUs, 'read_cpu_us'),
    constantReading('interest in 100, each, CPU of Redis', 'µs', watching.redisUs, 'redis_interest_us'),
    constantReading('interest in 100, each, CPU of a gateway', 'µs', watching.hereUs, 'interest_cpu_us'),
    constantReading('message, CPU of Redis', 'µs', passing.redisUs, 'redis_message_us'),
    constantReading('message, CPU of both gateways', 'µs', passing.hereUs, 'message_cpu_us'),
    ...(await textbook(redis)),
  ]
}

/** What `work`, which does something so many times, takes each time. */
async function cost(redis: OwnRedis, times: number, work: () => Promise<void>) {
  const [bytes, cpu] = [await redis.usedBytes(), await redis.cpuSeconds()]
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return {
    hereUs: (user + system) / times,
    redisUs: (((await redis.cpuSeconds()) - cpu) / times) * 1e6,
    redisBytes: ((await redis.usedBytes()) - bytes) / times,
  }
}

/** One change to many gateways, again and again. This process pays for all the ends. */
async function passingOn(bus: Bus): Promise<() => Promise<void>> {
  const names = Array.from({ length: INTERESTED }, (_, gateway) => gatewayName(gateway))
  const change = { kind: 'change', userId: userName(0), version: 59045206, at: 0, json: CHANGE_JSON } as const
  let awaited = 0
  let onAll = () => {}
  for (const name of names) {
    await bus.subscribe(name, () => {
      if (--awaited === 0) onAll()
    })
  }
  return async () => {
    for (let sent = 0; sent < CHANGES; sent++) {
      awaited = INTERESTED
      const all = new Promise<void>((resolve) => {
        onAll = resolve
      })
      for (const name of names) bus.publish(name, [{ ...change, inputs: null }])
      await all
    }
  }
}

/** A heartbeat that writes a key with a time to live, and a channel that a gateway follows. */
async function textbook(redis: OwnRedis): Promise<Reading[]> {
  const { bare } = redis
  async function beatAll(): Promise<void> {
    for (const users of chunksOf(ALL_USERS, KEYS_AT_A_TIME)) {
      const pipeline = bare.pipeline()
      for (const user of users) pipeline.set(`presence:${userName(user)}`, 'online', 'EX', KEY_TTL_SECONDS)
      await pipeline.exec()
    }
  }
  const first = await cost(redis, USERS, beatAll)
  const again = await cost(redis, USERS, beatAll)
  const follower = bare.duplicate()
  try {
    const following = await cost(redis, USERS, async () => {
      for (const users of chunksOf(ALL_USERS, CONTACTS)) {
        await follower.subscribe(...users.map((user) => `presence:${userName(user)}`))
      }
    })
    return [
      constantReading('key with TTL in Redis', 'bytes', first.redisBytes, 'textbook_key_bytes'),
      constantReading('beat as a key, CPU of Redis', 'µs', again.redisUs, 'textbook_beat_us'),
      constantReading('beat as a key, CPU of a gateway', 'µs', again.hereUs, 'textbook_beat_cpu_us'),
      constantReading('subscription in Redis', 'bytes', following.redisBytes, 'textbook_subscription_bytes'),
      constantReading(
        'subscription of 100, each, CPU of Redis',
        'µs',
        following.redisUs,
        'textbook_subscribe_us',
      ),
    ]
  } finally {
    follower.disconnect()
  }
}
