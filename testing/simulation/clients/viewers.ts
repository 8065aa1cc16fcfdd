// The watchers of a run, which watch all users and record every frame, and a backend that asks for the same over HTTP
// now and then.

import type { Presence } from '@greendot/protocol'
import type { Shown } from '../../faults/random/history/truth.ts'
import { createPeer, type Peer } from './peer.ts'
import type { PeopleParts } from './people.ts'
import { query } from './requests.ts'

export interface Viewer {
  readonly id: string
  readonly peer: Peer
  /** What it shows now. */
  readonly screen: ReadonlyMap<string, Shown>
}

export const shownOf = (by: string, viewer: string, presence: Presence): Shown => ({
  by,
  viewer,
  // Where hidden users show as null, that is what offline is elsewhere.
  status: presence.status ?? 'offline',
  text: presence.custom_status?.text ?? null,
  deviceCount: presence.devices.length,
  version: presence.version,
})

export function createViewer(id: string, targets: readonly string[], parts: PeopleParts): Viewer {
  const { ground, deployment, random, history } = parts
  const { timeline } = ground
  const screen = new Map<string, Shown>()
  const peer = createPeer({
    userId: id,
    device: 'watching',
    ground,
    deployment,
    random,
    watch: targets,
    onPresence(presence, via, server) {
      history.see({ viewer: id, via, isDegraded: false, server }, presence)
      timeline.note(`${id} ${presence.user_id} ${presence.status} ${presence.version}`)
      const before = screen.get(presence.user_id)
      if (before !== undefined && presence.version !== 0 && presence.version < before.version) return
      screen.set(presence.user_id, shownOf(server, id, presence))
    },
    onWatching(isWatching, server) {
      const now = timeline.now()
      if (isWatching) history.watchings.push({ viewer: id, server, from: now, to: Number.POSITIVE_INFINITY })
      else history.watchings.findLast(({ viewer }) => viewer === id)!.to = now
    },
  })
  return { id, peer, screen }
}

/** Asks a process that serves for a viewer, again and again. */
export function keepAsking(
  viewers: readonly string[],
  targets: readonly string[],
  everyMs: number,
  { ground, deployment, random, history }: PeopleParts,
): { stop(): void } {
  const { timeline } = ground
  let isStopped = false

  async function ask(): Promise<void> {
    const serving = deployment.serving()
    if (serving.length === 0) return
    const process = random.pick(serving)
    const viewer = random.pick(viewers)
    const askedAt = timeline.now()
    const answer = await query(ground, process, viewer, targets)
    for (const presence of answer?.presences ?? [])
      history.see(
        { viewer, via: 'http', isDegraded: answer!.isDegraded, server: process.name },
        presence,
        askedAt,
      )
  }

  function next(): void {
    if (isStopped) return
    void ask()
    timeline.at(timeline.now() + everyMs, next)
  }
  timeline.at(timeline.now() + everyMs, next)
  return {
    stop() {
      isStopped = true
    },
  }
}
