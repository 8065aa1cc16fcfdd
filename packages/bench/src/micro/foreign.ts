// Foreign gateways: each sends a batch of 10,000 live users every five seconds, to two server processes on one port with
// one Redis, so about half of the batches reach a process that does not hold the sessions. Nothing changes between the
// batches. What servers and Redis spend without any batch, in the same time, is taken off.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { sleep } from '../platform/clock.ts'
import { usageOf } from '../platform/proc.ts'
import { createScope } from '../platform/scope.ts'
import { startGreendot } from '../subject/greendot.ts'
import { startRedis } from '../subject/redis.ts'
import { type Micro, median, type Reading, type Scale } from './measure.ts'
import { missingRedis } from './setup/redis.ts'

const PROCESSES = 2
const GATEWAYS = 4
const USERS = 10_000
const BATCH_EVERY_MS = 5_000
const THOUSANDS_PER_ROUND = (GATEWAYS * USERS) / 1_000

export const foreign: Micro = {
  name: 'foreign',
  about: 'unchanged batches of foreign gateways: CPU time and Redis commands',
  missing: missingRedis,
  run,
}

interface Spent {
  serverMs: number
  redisMs: number
  commands: number
}

async function run({ rounds }: Scale): Promise<Reading[]> {
  const scope = createScope()
  try {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-micro-'))
    scope.add(() => rmSync(folder, { recursive: true, force: true }))
    const { url: redisUrl, pid: redisPid } = await startRedis(folder, scope)
    const spec = { gateways: PROCESSES, redis: { url: redisUrl }, port: null, core: null, settings: [] }
    const greendot = await startGreendot(spec, scope)
    const redis = new Redis(redisUrl)
    scope.add(() => redis.disconnect())
    const { url, key } = greendot.backend!
    const bodies = Array.from({ length: GATEWAYS }, (_, gateway) => batchOf(gateway))

    async function report(body: string): Promise<void> {
      // A new connection each time: the kernel chooses the process.
      const headers = { authorization: `Bearer ${key}`, connection: 'close' }
      const response = await fetch(`${url}/api/v1/heartbeats`, { method: 'POST', headers, body })
      const { accepted } = (await response.json()) as { accepted?: number }
      if (accepted !== USERS)
        throw new Error(`a batch was answered with ${response.status}, ${accepted} accepted`)
    }

    async function look(): Promise<Spent> {
      const text = await redis.info('stats')
      return {
        serverMs: usageOf(greendot.pids()).cpuSeconds * 1_000,
        redisMs: usageOf([redisPid]).cpuSeconds * 1_000,
        commands: Number(/^total_commands_processed:(\d+)/m.exec(text)?.[1]),
      }
    }

    async function spentBy(work: () => Promise<void>): Promise<Spent> {
      const before = await look()
      await Promise.all([work(), sleep(BATCH_EVERY_MS)])
      const after = await look()
      return {
        serverMs: after.serverMs - before.serverMs,
        redisMs: after.redisMs - before.redisMs,
        commands: after.commands - before.commands,
      }
    }

    const reportAll = async () => {
      for (const body of bodies) await report(body)
    }
    const first = await spentBy(reportAll)
    await spentBy(reportAll)
    const taken: Spent[] = []
    for (let round = 0; round < rounds; round++) {
      const idle = await spentBy(async () => {})
      const busy = await spentBy(reportAll)
      taken.push({
        serverMs: busy.serverMs - idle.serverMs,
        redisMs: busy.redisMs - idle.redisMs,
        commands: busy.commands - idle.commands,
      })
    }
    const middle = (of: (spent: Spent) => number) => median(taken.map(of)) / THOUSANDS_PER_ROUND
    return [
      reading('new sessions, servers', 'ms of CPU per 1,000', first.serverMs / THOUSANDS_PER_ROUND),
      reading(
        'unchanged sessions, servers',
        'ms of CPU per 1,000',
        middle(({ serverMs }) => serverMs),
      ),
      reading(
        'unchanged sessions, Redis',
        'ms of CPU per 1,000',
        middle(({ redisMs }) => redisMs),
      ),
      reading(
        'unchanged sessions, Redis',
        'commands per 1,000',
        middle(({ commands }) => commands),
      ),
    ]
  } finally {
    await scope.close()
  }
}

const reading = (name: string, unit: string, ours: number): Reading => ({
  name: `foreign gateways: ${name}`,
  unit,
  ours,
  bare: null,
  ratio: null,
})

function batchOf(gateway: number): string {
  const sessions = Array.from({ length: USERS }, (_, user) => ({
    user_id: `user-${gateway}-${user}`,
    device_id: `d${user}`,
    platform: 'web',
    activity: user % 5 === 0 ? 'idle' : 'active',
  }))
  return JSON.stringify({ gateway_id: `chat-${gateway}`, sessions })
}
