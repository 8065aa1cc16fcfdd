// A connection on which answers come, but far too late, is given up: messages on it are as late. Everything else about
// channels is tested with a real Redis (client.test.ts).
import { expect, test } from 'bun:test'
import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { followChannel } from './channel.ts'
import type { RedisLink } from './link.ts'

class SlowRedis extends EventEmitter {
  pings: PromiseWithResolvers<string>[] = []
  isDisconnected = false
  async connect() {}
  async ssubscribe() {}
  ping() {
    const answer = Promise.withResolvers<string>()
    this.pings.push(answer)
    return answer.promise
  }
  disconnect() {
    this.isDisconnected = true
  }
}

test('[C7] a channel whose connection answers far too late is followed on another one', async () => {
  const clock = createFakeClock(0)
  const opened: SlowRedis[] = []
  const node = { host: '127.0.0.1', port: 1 }
  const link: Partial<RedisLink> = {
    nodeFor: async () => node,
    refresh: async () => {},
    openNode() {
      opened.push(new SlowRedis())
      return opened.at(-1) as unknown as Redis
    },
  }
  let gaps = 0
  const follower = { receive() {}, onGap: () => void gaps++ }
  const followed = followChannel({ link: link as RedisLink, channel: 'c', follower, clock })
  await followed.joined
  await clock.advance(2_000)
  const [first] = opened
  // Two checks, and one question: the second check waits for the answer to the first.
  expect(first!.pings).toHaveLength(1)
  first!.pings[0]!.resolve('PONG')
  await clock.advance(4_000)
  expect([first!.pings.length, first!.isDisconnected]).toEqual([2, false])
  await clock.advance(4_000)
  expect([first!.isDisconnected, opened.length, gaps]).toEqual([true, 2, 1])
  followed.stop()
})
