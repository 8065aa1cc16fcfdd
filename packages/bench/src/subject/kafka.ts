// A Kafka broker for a run of the streaming deployment: one node that is broker and controller, on free ports of the
// loopback, with its data in the folder of the run. Topics are created by the servers.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { startProcess, untilListening } from '../peers/peer-process.ts'
import { freePort } from '../platform/ports.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'

const START_MS_MAX = 60_000
const HOST = '127.0.0.1'
const MEMORY = ['-Xms512m', '-Xmx512m']

export interface KafkaUnderTest {
  brokers: string
  pid: number
}

export async function startKafka(folder: string, scope: Scope): Promise<KafkaUnderTest> {
  const jars = findJars()
  if (Bun.which('java') === null || jars === null)
    throw new BenchProblem(
      'Kafka needs Java 17 and KAFKA_HOME, the folder of a Kafka 4; or give running brokers with --kafka-brokers',
    )
  const [port, controllerPort] = [freePort(), freePort()]
  const settings = join(folder, 'kraft.properties')
  writeFileSync(settings, propertiesOf(port, controllerPort, join(folder, 'kafka')))
  const java = ['java', ...MEMORY, '-cp', join(jars, '*'), '-Dorg.slf4j.simpleLogger.defaultLogLevel=error']
  // An id that began with a dash would be read as an option.
  const id = randomBytes(16).toString('base64url').replace(/^-/, 'A')
  const format = ['kafka.tools.StorageTool', 'format', '--cluster-id', id, '--config', settings]
  const process = { name: 'Kafka', core: null, cwd: folder }
  const formatting = startProcess({ ...process, command: [...java, ...format] }, scope)
  if ((await formatting.exited) !== 0)
    throw new BenchProblem(`Kafka could not format its folder: ${formatting.lastOutput()}`)
  const broker = startProcess({ ...process, command: [...java, 'kafka.Kafka', settings] }, scope)
  await untilListening(broker, port, START_MS_MAX)
  return { brokers: `${HOST}:${port}`, pid: broker.pid }
}

/** The libraries of an installed Kafka, or those that the tests of this repository have fetched. */
function findJars(): string | null {
  const script = Bun.which('kafka-server-start.sh')
  const homes = [process.env.KAFKA_HOME, script === null ? undefined : dirname(dirname(script))]
  const userCache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const cache = process.env.GREENDOT_TEST_CACHE || join(userCache, 'greendot-tests')
  const names = existsSync(cache) ? readdirSync(cache).filter((name) => /^kafka-[a-z0-9]+$/.test(name)) : []
  // The newest: others were fetched for former versions of this repository.
  const fetched = names.map((name) => join(cache, name)).toSorted((a, b) => changedAt(b) - changedAt(a))
  const folders = [...homes.flatMap((home) => (home === undefined ? [] : [join(home, 'libs')])), ...fetched]
  const isKafka = (name: string) => /^kafka_[\d.]+-4\..*\.jar$/.test(name)
  return folders.find((folder) => existsSync(folder) && readdirSync(folder).some(isKafka)) ?? null
}

const changedAt = (folder: string): number => statSync(folder).mtimeMs

const propertiesOf = (port: number, controllerPort: number, data: string): string =>
  [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${HOST}:${controllerPort}`,
    `listeners=PLAINTEXT://${HOST}:${port},CONTROLLER://${HOST}:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://${HOST}:${port}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names=CONTROLLER',
    `log.dirs=${data}`,
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'group.initial.rebalance.delay.ms=0',
    '',
  ].join('\n')
