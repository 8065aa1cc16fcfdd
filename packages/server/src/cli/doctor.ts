// `greendot doctor`: checks what a server needs before it starts, one line per check, each failure with its
// remedy. It starts nothing.
import { type Config, loadConfig, warningsAbout } from '../platform/config/config.ts'
import {
  type Check,
  checkClock,
  checkDatabase,
  checkDatabaseFiles,
  checkDeployment,
  checkFileLimit,
  checkGrpcPort,
  checkKeySet,
  checkPort,
} from './checks.ts'
import { type Command, EXIT, type ExitCode, sourcesFor, takeOptions, type World } from './command.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'checks the configuration and the services it names, and says how to fix problems',
  about: ['Give it the settings of the server. Exits with 1 when a check failed.'],
  options: [{ name: 'json', sign: null, help: 'prints the checks as JSON' }],
  run,
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const taken = takeOptions(doctor, argv)
  if (!taken.ok) {
    world.complain(taken.problem)
    return EXIT.usage
  }
  const checks = await runChecks(taken.rest, world)
  const ok = checks.every((check) => check.state !== 'fail')
  if (taken.values.get('json') === 'on') world.print(JSON.stringify({ ok, checks }))
  else for (const check of checks) world.print(lineOf(check))
  return ok ? EXIT.ok : EXIT.failed
}

async function runChecks(argv: readonly string[], world: World): Promise<Check[]> {
  const loaded = loadConfig(sourcesFor(doctor, argv, world))
  if (!loaded.ok) {
    // The machine can be checked without a configuration.
    const configuration: Check = { name: 'configuration', state: 'fail', detail: loaded.problem, mend: null }
    return [configuration, checkClock(world.clock.now(), null), checkFileLimit()]
  }
  const { config } = loaded
  const database = await checkDatabase(config)
  const files = await checkDatabaseFiles(config)
  const grpc = await checkGrpcPort(config)
  return [
    describeConfiguration(config),
    database.check,
    ...(files === null ? [] : [files]),
    ...(config.redisUrl === null ? [] : [await checkDeployment(config, world.clock)]),
    await checkPort(config),
    ...(grpc === null ? [] : [grpc]),
    ...(config.jwksUrl === null ? [] : [await checkKeySet(config.jwksUrl)]),
    ...warningsAbout(config).map((open): Check => ({ name: 'tokens', state: 'warn', ...open })),
    checkClock(world.clock.now(), database.aliveAt),
    checkFileLimit(),
  ]
}

function describeConfiguration({ dev, jwtSecret, policyName, pages, allowedOrigins }: Config): Check {
  const tokens = jwtSecret !== null ? 'jwt_secret' : dev ? 'dev' : 'jwks_url'
  return {
    name: 'configuration',
    state: 'ok',
    detail: `user tokens by ${tokens}, policy ${policyName}, pages ${pages}, origins ${allowedOrigins.join(' ')}`,
    mend: null,
  }
}

function lineOf({ name, state, detail, mend }: Check): string {
  return `${state.padEnd(4)}  ${name}: ${detail}${mend === null ? '' : `; ${mend}`}`
}
