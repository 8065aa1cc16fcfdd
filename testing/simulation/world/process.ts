// One server process: the pipeline of the server on the simulated Redis and database, over connections of its own. It
// can crash at any moment, and a new one under another name takes its place.
import { openMemory, settleMsOf } from '../../../packages/server/src/adapters.ts'
import { createDoubts } from '../../../packages/server/src/gateway/doubts.ts'
import { type Pipeline, startPipeline } from '../../../packages/server/src/pipeline.ts'
import type { RootLogger } from '../../../packages/server/src/platform/logger.ts'
import { createSteadyClock } from '../../../packages/server/src/platform/steady-clock.ts'
import { connectOver } from '../../../packages/server/src/redis/client.ts'
import { redisStateOn } from '../../../packages/server/src/redis-adapters.ts'
import { openSimulatedLink } from '../adapters/redis-link.ts'
import { createMachine, type Machine } from '../time/machine.ts'
import { randomOf } from '../time/random.ts'
import type { Ground } from './ground.ts'
import { processConfig, type Role } from './process-config.ts'

const READY_MS = 10_000

export interface ServerProcess {
  readonly name: string
  readonly machine: Machine
  readonly roles: readonly Role[]
  /** Null until it has started. */
  pipeline(): Pipeline | null
  /** Accepts clients and answers. */
  isServing(): boolean
  /** Ends in good order. */
  stop(): Promise<void>
  hasEnded(): boolean
}

export interface ProcessOptions {
  name: string
  roles: readonly Role[]
  /** How far the clock of its machine is off; any, if left out. */
  skewMs?: number | undefined
  /** It could not start, or has stopped. */
  onEnded(process: ServerProcess): void
}

export function startProcess(ground: Ground, options: ProcessOptions): ServerProcess {
  const { settings, timeline, seed } = ground
  const { name, roles, onEnded } = options
  const random = randomOf(seed, name)
  const machine = createMachine({
    name,
    timeline,
    random,
    lateMsMax: settings.timerLateMs,
    skewMs: options.skewMs ?? random.between(-settings.skewMs, settings.skewMs),
    drift: random.between(-settings.drift, settings.drift),
  })
  let pipeline: Pipeline | null = null
  let state: 'starting' | 'serving' | 'stopping' | 'ended' = 'starting'

  async function start(): Promise<void> {
    const planted = ground.plant()
    const logger = loggerOf(ground, name)
    const config = planted.config?.(processConfig(settings, roles)) ?? processConfig(settings, roles)
    const plainDoubts = createDoubts()
    const doubts = planted.doubts?.(plainDoubts) ?? plainDoubts
    const isShared = settings.deployment === 'shared'
    const plain = planted.clock?.(machine.clock) ?? machine.clock
    const clock = isShared ? plain : createSteadyClock(plain, logger)
    // The database outlives the process.
    const reached = { ...ground.database.reachedFrom(machine), close: async () => {} }
    const archive = planted.archive?.(reached) ?? reached
    const hot = isShared ? await openShared() : openMemory({ logger, clock })
    pipeline = await startPipeline({
      config,
      archive,
      hot: planted.hot?.(hot, clock) ?? hot,
      isShared,
      doubts,
      openTopic: null,
      clock,
      machineClock: plain,
      logger,
      ...(planted.replace && { replace: planted.replace }),
    })

    async function openShared() {
      const onBack = () => doubts.report('the store was away')
      const connection = connectOver((options) => openSimulatedLink(ground.redis, machine, options), {
        logger,
        clock: plain,
        onBack,
      })
      await connection.ready(READY_MS)
      const { shards } = settings
      const settleMs = settleMsOf(config)
      return redisStateOn({ logger, clock: plain, doubts, settleMs, connection, replicas: null, shards })
    }
  }

  function end(): void {
    state = 'ended'
    onEnded(self)
  }

  const self: ServerProcess = {
    name,
    machine,
    roles,
    pipeline: () => pipeline,
    isServing: () => state === 'serving' && machine.isAlive() && !machine.isFrozen(),
    hasEnded: () => state === 'ended',
    async stop() {
      if (state !== 'serving') return
      state = 'stopping'
      await pipeline!.leave()
      await pipeline!.close()
      end()
    },
  }

  start().then(
    () => {
      state = 'serving'
    },
    (error: unknown) => {
      ground.onLog(name, 'error', `did not start: ${error}`)
      machine.crash()
      end()
    },
  )
  return self
}

/** As much of a logger as the server uses. */
function loggerOf({ onLog }: Ground, name: string): RootLogger {
  const at = (level: string) => (fields: unknown, text?: string) => {
    const cause = (fields as { err?: unknown } | null)?.err
    onLog(name, level, `${text ?? String(fields)}${cause === undefined ? '' : ` (${cause})`}`)
  }
  const nothing = () => {}
  return {
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    suppressedLines: () => 0,
  } as unknown as RootLogger
}
