// The places of servers in a random run: whole ones, or with Kafka gateways and owners apart. A place keeps its number
// over restarts; every process that was started in it has a name of its own, so that a connection can be told from one
// to its successor.
import type { SettingsInput } from '../../../clients/server.ts'
import { type Greendot, startGreendot } from '../../process.ts'

const START_AGAIN_MS = 500
const START_MS_MAX = 60_000

export interface ServerProcess {
  readonly name: string
  readonly process: Greendot
}

export interface Servers {
  readonly count: number
  /** The process in this place, if it runs. */
  at(place: number): ServerProcess | null
  running(): ServerProcess[]
  /** Ends it with kill -9 or in order. It takes no connections any more as soon as this is called. */
  kill(place: number): Promise<void>
  stop(place: number): Promise<void>
  /** Tries until it starts: it refuses to without its store or its archive. */
  start(place: number): Promise<void>
  endAll(): Promise<void>
}

/** Processes of this prefix are called `s0.1`, `s0.2` and so on. */
export async function startServers(count: number, settings: SettingsInput, prefix = 's'): Promise<Servers> {
  const places: (ServerProcess | null)[] = Array.from({ length: count }, () => null)
  const starts = new Array<number>(count).fill(0)
  const starting = new Map<number, Promise<void>>()

  /** Faults overlap: a place that was killed twice still gets one process. */
  async function start(place: number): Promise<void> {
    if (places[place] !== null) return
    const begun = starting.get(place) ?? startIn(place).finally(() => starting.delete(place))
    starting.set(place, begun)
    await begun
  }

  async function startIn(place: number): Promise<void> {
    const giveUpAt = performance.now() + START_MS_MAX
    while (true) {
      try {
        const process = await startGreendot({ command: 'serve', settings })
        places[place] = { name: `${prefix}${place}.${++starts[place]!}`, process }
        return
      } catch (error) {
        if (performance.now() > giveUpAt) throw error
        await Bun.sleep(START_AGAIN_MS)
      }
    }
  }

  function take(place: number): Greendot | null {
    const taken = places[place]?.process ?? null
    places[place] = null
    return taken
  }

  const servers: Servers = {
    count,
    at: (place) => places[place] ?? null,
    running: () => places.filter((one) => one !== null),
    async kill(place) {
      await take(place)?.kill()
    },
    async stop(place) {
      await take(place)?.stop()
    },
    start,
    async endAll() {
      await Promise.all(places.map((_, place) => servers.kill(place)))
    },
  }
  // One after the other: the first creates the tables.
  for (let place = 0; place < count; place++) await start(place)
  return servers
}
