// A real server process outside dev mode, whose whole output is kept, at the lowest log level. Its secrets come from the
// environment, as they do in production.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnCli } from '../clients/cli.ts'
import { linesOf } from '../services/lines.ts'
import { WAIT_MS, within } from '../services/within.ts'

export interface LoggedServer {
  url: string
  grpc: string
  /** Stdout and stderr so far. */
  output(): string
  /** The lines of stderr so far. */
  lines(): readonly string[]
  /** Resolves when it has ended and all of its output is here. */
  stop(): Promise<void>
}

export async function startLoggedServer(
  secrets: { jwtSecret: string; serverKey: string },
  flags: readonly string[] = [],
): Promise<LoggedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-logged-'))
  const all = ['--port=0', '--grpc-port=0', '--log-level=trace', '--drain-ms=50', ...flags]
  const database = `--database-url=sqlite://${join(folder, 'greendot.db')}`
  const child = spawnCli(['serve', ...all, database], {
    cwd: folder,
    env: { GREENDOT_JWT_SECRET: secrets.jwtSecret, GREENDOT_SERVER_KEYS: secrets.serverKey },
  })
  const said: string[] = []
  const logged: string[] = []
  const ready = Promise.withResolvers<void>()
  const reading = Promise.all([
    (async () => {
      for await (const line of linesOf(child.stdout)) if (said.push(line) === 2) ready.resolve()
    })(),
    (async () => {
      for await (const line of linesOf(child.stderr)) logged.push(line)
    })(),
  ])
  await within(WAIT_MS, 'the start of the server', ready.promise)
  const last = (line: string) => line.split(' ').at(-1)!
  return {
    url: last(said[0]!),
    grpc: last(said[1]!),
    output: () => [...said, ...logged].join('\n'),
    lines: () => logged,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
      await reading
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
