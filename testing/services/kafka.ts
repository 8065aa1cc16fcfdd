// A Kafka broker for tests: one node that is broker and controller, on free ports of the loopback, in a temporary
// folder. Maven fetches it once. It needs Java and Maven, which many machines
// lack, so its tests are skipped with the reason also where CI=true.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Child, newFolder, removeFolder, startChild } from './child.ts'
import type { Found } from './found.ts'
import { freePort, LOOPBACK } from './ports.ts'
import { cacheFolder, fetchOnce } from './tools/cache.ts'

const POM = resolve(import.meta.dir, 'kafka/pom.xml')
/** About 45 MB to fetch. */
const FETCH_MS_MAX = 180_000
const JAVA_NEEDED = 17
/** One small broker: the compiler of the JVM and its collector shall not take the cores from the tests. */
const JVM = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
const LOGGER = '-Dorg.slf4j.simpleLogger'

let found: Promise<Found> | null = null

/** The folder of the jars, fetched if possible; searched once per process. */
export function findKafka(): Promise<Found> {
  found ??= findOrFetch()
  return found
}

const missing = (why: string): Found => ({ state: 'missing', why, isOptional: true })

async function findOrFetch(): Promise<Found> {
  const java = Bun.which('java')
  if (java === null) return missing('no Java on this machine')
  const version = await versionOf(java)
  if (version < JAVA_NEEDED) return missing(`needs Java ${JAVA_NEEDED} or later`)
  const jars = cacheFolder(`kafka-${Bun.hash(readFileSync(POM)).toString(36)}`)
  const why = existsSync(jars) ? null : await fetchInto(jars)
  return why === null ? { state: 'found', path: jars } : missing(why)
}

/** 0 when it does not run. */
async function versionOf(java: string): Promise<number> {
  const child = Bun.spawn({ cmd: [java, '-version'], stdio: ['ignore', 'ignore', 'pipe'] })
  const said = await new Response(child.stderr).text()
  await child.exited
  return Number(/version "(\d+)/.exec(said)?.[1] ?? 0)
}

async function fetchInto(jars: string): Promise<string | null> {
  const maven = Bun.which('mvn')
  if (maven === null) return 'no Maven on this machine'
  return fetchOnce(jars, {
    what: 'Kafka',
    by: 'Maven',
    command: (folder) => [
      maven,
      ...['--batch-mode', '--quiet', '--file', POM, 'dependency:copy-dependencies'],
      ...[`-DoutputDirectory=${folder}`, '-DincludeScope=runtime'],
    ],
    msMax: FETCH_MS_MAX,
    problemIn: firstError,
  })
}

/** The first error without addresses: it becomes part of the titles of tests. */
const firstError = (said: string): string | undefined =>
  /ERROR\S* (.*)/
    .exec(said)?.[1]
    ?.replace(/\S+:\/\/\S+/g, '(address)')
    .slice(0, 200)

export interface Kafka {
  /** Host and port, as a client is told. */
  readonly broker: string
  /** Changes with each restart. */
  readonly pid: number
  /** Ends it and removes its data. */
  stop(): Promise<void>
  /** `SIGTERM` lets it hand over in order. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** It answers nothing until it is thawed, and keeps its connections. */
  freeze(): void
  thaw(): void
  /** On the same port and data, ended first if it still runs. What is asked meanwhile waits for it. */
  restart(): Promise<void>
}

export async function startKafka(): Promise<Kafka> {
  const kafka = await findKafka()
  if (kafka.state === 'missing') throw new Error(kafka.why)
  const [port, controllerPort] = [await freePort(), await freePort()]
  const folder = newFolder('kafka')
  const java = ['java', ...JVM, '-cp', join(kafka.path, '*')]
  const settings = join(folder, 'kraft.properties')

  const start = (): Promise<Child> =>
    startChild({
      name: `kafka on port ${port}`,
      cmd: [
        ...java,
        ...[`${LOGGER}.defaultLogLevel=error`, `${LOGGER}.log.kafka.server.KafkaRaftServer=info`],
        ...['kafka.Kafka', settings],
      ],
      folder,
      readyWhen: 'Kafka Server started',
      endingSignal: 'SIGKILL',
    })

  let child: Child
  try {
    writeFileSync(settings, propertiesOf(port, controllerPort, folder))
    await format([...java, `${LOGGER}.defaultLogLevel=error`], settings, folder)
    child = await start()
  } catch (error) {
    removeFolder(folder)
    throw error
  }

  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: a second broker on the same port would not start, and the first would not be known. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  return {
    broker: `${LOOPBACK}:${port}`,
    get pid() {
      return child.pid
    },
    async stop() {
      await inTurn(() => child.end('SIGKILL'))
      removeFolder(folder)
    },
    kill: (signal = 'SIGKILL') => inTurn(() => child.end(signal)),
    freeze: () => child.signal('SIGSTOP'),
    thaw: () => child.signal('SIGCONT'),
    restart: () =>
      inTurn(async () => {
        await child.end('SIGKILL')
        child = await start()
      }),
  }
}

async function format(java: string[], settings: string, folder: string): Promise<void> {
  // An id that began with a dash would be read as an option.
  const id = randomBytes(16).toString('base64url').replace(/^-/, 'A')
  const child = Bun.spawn({
    cmd: [...java, 'kafka.tools.StorageTool', 'format', '--cluster-id', id, '--config', settings],
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0)
    throw new Error(`Kafka could not format its folder: ${said.join('').trim()}`)
}

function propertiesOf(port: number, controllerPort: number, folder: string): string {
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@${LOOPBACK}:${controllerPort}`,
    `listeners=PLAINTEXT://${LOOPBACK}:${port},CONTROLLER://${LOOPBACK}:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://${LOOPBACK}:${port}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names=CONTROLLER',
    `log.dirs=${join(folder, 'data')}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    // Tests do not wait for more consumers, for long sessions, or five minutes for old records to go.
    'group.initial.rebalance.delay.ms=0',
    'broker.session.timeout.ms=1000',
    'broker.heartbeat.interval.ms=200',
    'group.min.session.timeout.ms=500',
    'log.retention.check.interval.ms=500',
    'log.initial.task.delay.ms=500',
    'log.cleaner.dedupe.buffer.size=4194304',
    '',
  ].join('\n')
}
