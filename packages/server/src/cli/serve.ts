// `greendot serve`, and the commands for one role. Stdout carries the ready line and nothing else but the address of
// gRPC where its port was picked, so that the parent process can wait for it. The first signal stops the server in order, the second at once.

import type { Role } from '../platform/config/settings.ts'
import { createLogger } from '../platform/logger.ts'
import { ownCommand } from '../platform/runtime-flags.ts'
import { type Command, configFor, EXIT, type ExitCode, type World } from './command.ts'
import { failureLine } from './failure.ts'
import { openWorkerChannel } from './workers/worker-channel.ts'
import { startWorkers } from './workers/workers.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'runs all roles in one process',
  about: [
    'Prints "greendot ready <url>" once it answers, and then "greendot grpc ready <host:port>" where the port of',
    'gRPC was picked; SIGTERM or SIGINT stops it in order.',
    'With workers above 1 it starts and supervises that many processes on one port; SIGHUP restarts',
    'them one after the other.',
  ],
  options: [],
  isServer: true,
  run: runServer,
}

export function roleCommand(role: Role, what: string): Command {
  return {
    name: role,
    summary: `runs only the ${role} role: ${what}`,
    about: [`The same as "greendot serve --roles ${role}". Roles in different processes share a redis_url.`],
    options: [],
    isServer: true,
    run: (argv, world) => runServer([...argv, `--roles=${role}`], world),
  }
}

async function runServer(argv: readonly string[], world: World): Promise<ExitCode> {
  const config = configFor(serve, argv, world)
  if (config === null) return EXIT.usage
  const logger = createLogger({ level: config.logLevel })
  // From the beginning: a signal during the start must not be lost.
  const stopAsked = firstSignal()
  try {
    if (config.workers > 1) {
      const command = [...ownCommand(), 'serve', ...argv]
      const workers = await startWorkers({ config, command, clock: world.clock, logger })
      process.on('SIGHUP', () => void workers.restartAll())
      world.print(`greendot ready ${workers.url}`)
      if (workers.pickedGrpc !== null) world.print(`greendot grpc ready ${workers.pickedGrpc}`)
      await stopAsked
      await workers.stop()
      return EXIT.ok
    }
    // Imported here, so that other commands do not load the whole server.
    const { start } = await import('../compose.ts')
    const siblings = openWorkerChannel(world)
    const running = await start(config, { logger, clock: world.clock, siblings })
    world.print(`greendot ready ${running.url}`)
    if (running.grpc?.isPicked) world.print(`greendot grpc ready ${running.grpc.address}`)
    const lost = await running.stop(await stopAsked)
    siblings?.close()
    return lost === 0 ? EXIT.ok : EXIT.failed
  } catch (error) {
    logger.debug({ err: error }, 'stopped by an error')
    world.complain(failureLine(error, config))
    return EXIT.failed
  }
}

/** Resolves with the first signal; the second ends the process at once. */
function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(EXIT.failed)
        asked = true
        resolve(signal)
      })
    }
  })
}
