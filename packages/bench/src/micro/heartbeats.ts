// Heartbeats, the most frequent thing by far. Over the wire, beside the same runtime with a handler that
// only counts; and the handler alone, beside the least a beat can be: one look at the clock, two numbers.
import { HEARTBEAT_ACTIVE } from '@greendot/protocol'
import { createDoubts } from '../../../server/src/gateway/doubts.ts'
import { startGateway } from '../../../server/src/gateway/gateway.ts'
import type { Socket } from '../../../server/src/gateway/sessions/connections.ts'
import { type Config, loadConfig } from '../../../server/src/platform/config/config.ts'
import { createTally } from '../../../server/src/platform/measuring/tally.ts'
import { type Micro, perCpuSecond, type Reading, type Scale, sideBySide } from './measure.ts'
import { type BeatLoadOptions, openBeatLoad } from './setup/beat-load.ts'
import { type MeasuredServer, perServerCpuSecond, startBare, startMeasured } from './setup/servers.ts'
import { createUsers, userName } from './setup/users.ts'

/** Several beats in a segment: what the code costs. One each, with time between: what a network makes of it. */
const DENSE = { clients: 256, beatsPerSegment: 16, segmentEveryMs: 0 }
const SPARSE = { clients: 1_000, beatsPerSegment: 1, segmentEveryMs: 25 }
const SESSIONS = 10_000

export const heartbeats: Micro = {
  name: 'heartbeats',
  about: 'heartbeats over the wire and in the handler, beside the bare runtime',
  missing: () => null,
  async run(scale) {
    return [
      await overTheWire('heartbeats, 16 a segment', DENSE, scale),
      await overTheWire('heartbeats, 1 a segment', SPARSE, scale),
      await inTheHandler(scale),
    ]
  },
}

type BeatPattern = Omit<BeatLoadOptions, 'path'>

async function overTheWire(name: string, pattern: BeatPattern, { rounds, roundMs }: Scale): Promise<Reading> {
  const greendot = await startMeasured()
  const bare = await startBare()
  async function beating(server: MeasuredServer) {
    const path = (client: number) => `/api/v1/ws?token=${server.tokenOf(client)}`
    const load = await openBeatLoad(server.port, { ...pattern, path })
    return perServerCpuSecond(server, async () => {
      const before = await server.metric('greendot_heartbeats_total')
      await load.beat(roundMs)
      return (await server.metric('greendot_heartbeats_total')) - before
    })
  }
  try {
    return await sideBySide(
      { name, unit: 'beats per CPU-second', rounds },
      await beating(greendot),
      await beating(bare),
    )
  } finally {
    await greendot.stop()
    await bare.stop()
  }
}

async function inTheHandler({ rounds, roundMs }: Scale): Promise<Reading> {
  const users = await createUsers()
  const { clock } = users
  const { promise: allWelcome, resolve } = Promise.withResolvers<void>()
  let welcomed = 0
  const gateway = await startGateway({
    ...users,
    config: { ...devConfig(), framesPerSecond: Number.POSITIVE_INFINITY },
    doubts: createDoubts(),
    disconnects: { listen: () => {}, isRefused: () => false },
    foreign: { hold: async () => {}, handOver: async () => {} },
    tally: createTally(),
  })
  const handler = gateway.sockets
  const onFrame = () => {
    if (++welcomed === SESSIONS) resolve()
  }
  const sockets = Array.from({ length: SESSIONS }, (_, user) => silentSocket(user, onFrame))
  for (const socket of sockets) handler.open(socket)
  await allWelcome

  function beatAll(): number {
    for (const socket of sockets) handler.message(socket, HEARTBEAT_ACTIVE)
    return SESSIONS
  }

  const beatAt = new Float64Array(SESSIONS)
  const activeAt = new Float64Array(SESSIONS)
  function touchAll(): number {
    for (let row = 0; row < SESSIONS; row++) {
      const now = clock.now()
      beatAt[row] = now
      activeAt[row] = now
    }
    return SESSIONS
  }

  const reading = { name: 'heartbeat handler', unit: 'beats per CPU-second', rounds }
  const compared = await sideBySide(reading, perCpuSecond(roundMs, beatAll), perCpuSecond(roundMs, touchAll))
  await gateway.stop()
  await users.close()
  return compared
}

function devConfig(): Config {
  const loaded = loadConfig({ argv: ['--dev'], env: {}, readFile: () => null })
  if (!loaded.ok) throw new Error(loaded.problem)
  return loaded.config
}

/** All that the handler asks of a socket. The first frame is the welcome, and there is no other. */
function silentSocket(user: number, onFrame: () => void): Socket {
  const opening = { userId: userName(user), deviceId: `device-${user}`, platform: 'web', activity: null }
  const send = () => {
    onFrame()
    return 1
  }
  const reading = { isPaused: false, getBufferedAmount: () => 0 }
  return {
    data: { ...opening, tokenExpiresAt: null },
    send,
    close: () => {},
    ...reading,
  } as unknown as Socket
}
