// The watchers of a random run, which watch all users and record every frame, and a backend that asks for the same
// over HTTP all the time.
import type { Servers } from '../deployment/servers.ts'
import type { History } from '../history/history.ts'
import type { Shown } from '../history/truth.ts'
import { createPeer, type Peer } from './peer.ts'
import { query } from './requests.ts'

const POLL_EVERY_MS = 400

export interface Viewer {
  readonly id: string
  readonly peer: Peer
  /** What it shows now. */
  readonly screen: ReadonlyMap<string, Shown>
}

export function createViewer(
  id: string,
  targets: readonly string[],
  { servers, random, history }: { servers: Servers; random: () => number; history: History },
): Viewer {
  const screen = new Map<string, Shown>()
  const peer = createPeer({
    userId: id,
    device: 'watching',
    servers,
    random,
    watch: targets,
    onPresence(presence, via, server) {
      history.see({ viewer: id, via, isDegraded: false, server }, presence)
      const { user_id: target, status, custom_status, devices, version } = presence
      const before = screen.get(target)
      if (before !== undefined && version !== 0 && version < before.version) return
      const text = custom_status?.text ?? null
      screen.set(target, { by: server, viewer: id, status, text, deviceCount: devices.length, version })
    },
    onWatching(isWatching, server) {
      const now = performance.now()
      if (isWatching) history.watchings.push({ viewer: id, server, from: now, to: Number.POSITIVE_INFINITY })
      else history.watchings.findLast(({ viewer }) => viewer === id)!.to = now
    },
  })
  return { id, peer, screen }
}

/** Asks a random running server for a random viewer, again and again. */
export function keepAsking(
  viewers: readonly string[],
  targets: readonly string[],
  { servers, random, history }: { servers: Servers; random: () => number; history: History },
): { stop(): void } {
  const timer = setInterval(async () => {
    const running = servers.running()
    const server = running[Math.floor(random() * running.length)]
    const viewer = viewers[Math.floor(random() * viewers.length)]!
    if (server === undefined) return
    const askedAt = performance.now()
    const { presences, isDegraded } = await query(server.process.url, viewer, targets)
    for (const presence of presences)
      history.see({ viewer, via: 'http', isDegraded, server: server.name }, presence, askedAt)
  }, POLL_EVERY_MS)
  return { stop: () => clearInterval(timer) }
}
