// `npm run bench`: what an embedded server costs and how close its fan-out comes to a bare loop of
// `send`. Figures are ratios within one run wherever they can be: machines differ, ratios less.
import { parseArgs } from 'node:util'
import { cpuSeconds, residentBytes, startChild, startGreendot, startLoad } from './processes.ts'
import { query } from './query.ts'

const HELP = `npm run bench -- [scenario …] [--users 15000] [--contacts 18] [--seconds 8]

scenarios
  idle     memory per connected user and CPU while everybody beats every 15 s
  fanout   frames a second of one change to everybody, beside a bare loop of send
  query    how long batch queries take while 5,000 are connected and change`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    users: { type: 'string', default: '15000' },
    contacts: { type: 'string', default: '18' },
    seconds: { type: 'string', default: '8' },
    help: { type: 'boolean', default: false },
  },
})
const users = Number(values.users)
const contacts = Number(values.contacts)
const seconds = Number(values.seconds)

const sleep = (ms: number) => Bun.sleep(ms)
const say = (line: string) => console.log(line)
const fixed = (value: number, digits = 1) => value.toFixed(digits)

function paths(count: number): string[] {
  const query = (user: number) => `token=dev:user-${user}&device_id=device-${user}&platform=web`
  return Array.from({ length: count }, (_, user) => `/api/v1/ws?${query(user)}`)
}

/** Everybody watches the next ones on a ring: each is watched by as many. */
const ring = () =>
  Array.from({ length: users }, (_, user) =>
    Array.from({ length: contacts }, (_, step) => `user-${(user + step + 1) % users}`),
  )

async function idle(): Promise<void> {
  const server = await startGreendot([])
  const load = startLoad()
  await sleep(1000)
  const emptyBytes = residentBytes(server.pid)
  const startedAt = performance.now()
  await load.order({ do: 'open', port: server.port, paths: paths(users), watch: ring(), parallel: 200 })
  const connectSeconds = (performance.now() - startedAt) / 1000
  await load.order({ do: 'beat', everyMs: 15_000 })
  await sleep(20_000)
  const { open, closed } = await load.order({ do: 'report' })
  const perUser = (residentBytes(server.pid) - emptyBytes) / users
  const cpuBefore = cpuSeconds(server.pid)
  await sleep(seconds * 1000)
  const cpuShare = (cpuSeconds(server.pid) - cpuBefore) / seconds
  say(`idle: ${open} connected, ${closed} closed, ${await server.metric('greendot_watches')} watches`)
  say(`  connects          ${fixed(users / connectSeconds, 0)} a second, watches included`)
  say(`  empty server      ${fixed(emptyBytes / 1048576)} MB`)
  say(`  memory per user   ${fixed(perUser / 1024, 2)} KB above the empty server`)
  say(`  CPU               ${fixed(cpuShare * 100)} % of a core while all beat every 15 s`)
  await load.stop()
  await server.stop()
}

async function fanout(): Promise<void> {
  // The frame a watcher gets, to the byte: the bare loop sends the same.
  const presence = { user_id: 'user-0', status: 'away', last_seen: 1763200000000, custom_status: null }
  const change = { ...presence, devices: ['web'], version: 59045206 }
  const frame = JSON.stringify({ type: 'presence_change', changes: [change] })

  const bare = startChild('bare-server.ts', 0)
  const { port } = (await bare.said()) as { port: number }
  const bareLoad = startLoad()
  await bareLoad.order({ do: 'open', port, paths: Array(users).fill('/'), watch: [], parallel: 200 })
  await bare.ask({ frame, ms: 2000 })
  const loop = (await bare.ask({ frame, ms: seconds * 1000 })) as {
    sent: number
    wallMs: number
    cpuMs: number
  }
  await bareLoad.stop()
  await bare.stop()

  const server = await startGreendot(['--frames-per-second=60000'])
  const load = startLoad()
  const watchFirst = Array.from({ length: users }, () => ['user-0'])
  await load.order({ do: 'open', port: server.port, paths: paths(users), watch: watchFirst, parallel: 200 })
  await load.order({ do: 'flip', clients: 1, perSecond: 60 })
  await sleep(1000)
  await load.order({ do: 'deafen' })
  const framesBefore = await server.metric('greendot_frames_out_total')
  const cpuBefore = cpuSeconds(server.pid)
  const startedAt = performance.now()
  await sleep(seconds * 1000)
  const wall = (performance.now() - startedAt) / 1000
  const cpu = cpuSeconds(server.pid) - cpuBefore
  const frames = (await server.metric('greendot_frames_out_total')) - framesBefore
  const blocked = await server.metric('greendot_slow_readers')
  if (blocked > 0) say(`  (${blocked} connections are blocked: fewer --seconds are needed)`)
  await load.stop()
  await server.stop()

  const loopRate = loop.sent / (loop.wallMs / 1000)
  const loopPerCpu = loop.sent / (loop.cpuMs / 1000)
  say(`fanout: one change to ${users} watchers, again and again`)
  say(`  bare loop of send ${fixed(loopRate, 0)} frames a second, ${fixed(loopPerCpu, 0)} per CPU-second`)
  say(
    `  greendot          ${fixed(frames / wall, 0)} frames a second, ${fixed(frames / cpu, 0)} per CPU-second`,
  )
  say(
    `  ratio             ${fixed((frames / wall / loopRate) * 100)} % by time, ${fixed((frames / cpu / loopPerCpu) * 100)} % by CPU`,
  )
}

const scenarios: Record<string, () => Promise<void>> = {
  idle,
  fanout,
  query: () => query({ contacts, seconds, say }),
}
if (values.help) {
  say(HELP)
  process.exit(0)
}
for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name]
  if (scenario === undefined) {
    console.error(`no scenario "${name}"\n\n${HELP}`)
    process.exit(2)
  }
  await scenario()
}
