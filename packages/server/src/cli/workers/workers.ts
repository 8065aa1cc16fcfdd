// Several worker processes on one port, and a supervisor. The kernel spreads connections over the workers; each
// is a whole server, and they share their state through Redis. A worker that dies is started again. SIGHUP
// restarts them one after the other, so that the port is always served.
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { DEV_GRPC_PORT } from '../../platform/config/settings.ts'
import type { Logger } from '../../platform/logger.ts'
import { type FromWorker, SUPERVISED, type ToWorker } from './worker-messages.ts'
import { createWorkerScrapes } from './worker-scrapes.ts'

const RESTART_FIRST_MS = 200
const RESTART_MAX_MS = 5_000
/** After this uptime the wait before a restart is short again. */
const STEADY_MS = 30_000
/** In addition to the drain, for the rest of the stop. */
const STOP_EXTRA_MS = 10_000

export interface Workers {
  url: string
  /** Host and port of gRPC, where its port was picked. */
  pickedGrpc: string | null
  /** Replaces every worker, one after the other. */
  restartAll(): Promise<void>
  stop(): Promise<void>
}

export interface WorkersParts {
  config: Config
  /** The command line that starts one worker, without the flags added here. */
  command: readonly string[]
  clock: Clock
  logger: Logger
}

export async function startWorkers({ config, command, clock, logger }: WorkersParts): Promise<Workers> {
  const port = config.port === 0 ? freePort(config.host) : config.port
  // Chosen here, so that all workers share it.
  const grpcPort = grpcPortOf(config)
  const flags = ['--workers=1', '--reuse-port=on', `--port=${port}`, `--grpc-port=${grpcPort ?? 'off'}`]
  let isStopping = false
  let restarting: Promise<void> | null = null

  const senders = new Array<((message: ToWorker) => void) | null>(config.workers).fill(null)
  const scrapes = createWorkerScrapes({ senders: () => senders, clock })
  const workers = Array.from({ length: config.workers }, (_, index) => createWorker(index))

  function createWorker(index: number) {
    let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | null = null
    let waitMs = RESTART_FIRST_MS
    let retry: Timer | null = null

    async function start(): Promise<string> {
      const startedAt = clock.elapsed()
      const started = Bun.spawn([...command, ...flags], {
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'inherit',
        env: { ...process.env, [SUPERVISED]: String(index) },
        ipc: (message: FromWorker) => scrapes.take(index, message, send),
      })
      // A process that is ending takes no messages.
      const send = (message: ToWorker) => {
        if (started.exitCode === null) started.send(message)
      }
      child = started
      senders[index] = send
      void started.exited.then((code) => {
        if (senders[index] === send) senders[index] = null
        if (child !== started || isStopping) return
        scrapes.restarted(index)
        if (clock.elapsed() - startedAt > STEADY_MS) waitMs = RESTART_FIRST_MS
        logger.error({ worker: index, code, waitMs }, 'a worker ended; starting another')
        // A failed start ends the process, which is logged and retried above.
        retry = clock.after(waitMs, () => void start().catch(() => {}))
        waitMs = Math.min(waitMs * 2, RESTART_MAX_MS)
      })
      return readyUrl(started.stdout)
    }

    /** Ends the worker in order, and kills it when that takes too long. */
    async function end(): Promise<void> {
      retry?.stop()
      const ending = child
      child = null
      if (ending === null) return
      ending.kill('SIGTERM')
      const last = clock.after(config.drainMs + STOP_EXTRA_MS, () => ending.kill('SIGKILL'))
      await ending.exited
      last.stop()
    }

    return { start, end }
  }

  /** Never two at a time, and never after the stop. A worker that fails to start is retried. */
  async function restartEach(): Promise<void> {
    for (const worker of workers) {
      if (isStopping) return
      await worker.end()
      if (isStopping) return
      await worker.start().catch((error) => logger.error({ err: error }, 'a worker did not start'))
    }
  }

  async function stop(): Promise<void> {
    isStopping = true
    await Promise.all(workers.map((worker) => worker.end()))
  }

  try {
    const [url] = await Promise.all(workers.map((worker) => worker.start()))
    return {
      url: url!,
      pickedGrpc: grpcPort === config.grpcPort ? null : `${new URL(url!).hostname}:${grpcPort}`,
      stop,
      restartAll() {
        restarting ??= restartEach().finally(() => {
          restarting = null
        })
        return restarting
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The URL in the ready line of a worker. Everything else is on stderr. */
async function readyUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let said = ''
  for await (const chunk of stdout) {
    said += decoder.decode(chunk, { stream: true })
    const url = /^greendot ready (\S+)\n/m.exec(said)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('a worker ended before it was ready; its log has the reason')
}

function freePort(host: string): number {
  return probe(host, 0)
}

/** Throws when the port is taken. */
function probe(host: string, wanted: number): number {
  const listener = Bun.listen({ hostname: host, port: wanted, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** The port of gRPC for all workers. */
function grpcPortOf({ host, dev, grpcPort }: Config): number | null {
  if (grpcPort === 0) return freePort(host)
  if (!dev || grpcPort !== DEV_GRPC_PORT) return grpcPort
  try {
    return probe(host, grpcPort)
  } catch {
    return freePort(host)
  }
}
