// Simulates the neighbours over real connections. One window of a browser does it, and another one takes over
// when it is closed: every neighbour keeps its device id, so there is no visible change.
import { connect, type Dot } from '@greendot/client'
import { every, now, type Timer } from '../../clock.ts'
import { NEIGHBOURS } from './sample-users.ts'
import { platformOf, type Scene, sceneOf } from './simulated-schedule.ts'

const UPDATE_EVERY_MS = 1_000
const LOCK = 'greendot neighbours'

export interface Neighbours {
  stop(): void
}

/** `except` is the user of this window. */
export function startNeighbours(except: string): Neighbours {
  const ending = new AbortController()
  let over = () => {}
  const until = new Promise<void>((resolve) => {
    over = resolve
  })

  async function play(): Promise<void> {
    if (ending.signal.aborted) return
    const users = NEIGHBOURS.flatMap((name, index) =>
      name === except ? [] : [createSimulatedUser(name, index)],
    )
    const timer = every(UPDATE_EVERY_MS, () => {
      for (const user of users) user.update()
    })
    await until
    timer.stop()
    for (const user of users) user.stop()
  }

  navigator.locks.request(LOCK, { signal: ending.signal }, play).catch(() => {
    // Aborted by `stop` while waiting for the lock.
  })
  return {
    stop() {
      ending.abort()
      over()
    },
  }
}

function createSimulatedUser(name: string, index: number): Timer & { update(): void } {
  let dot: Dot | null = null
  let played: Scene | null = null

  function open(): Dot {
    return connect({
      url: location.origin,
      token: `dev:${name}`,
      deviceId: `simulated-${name}`,
      platform: platformOf(index),
      tabs: 'separate',
      idleDetection: 'off',
    })
  }

  function update(): void {
    const scene = sceneOf(index, now())
    if (scene === played) return
    const before = played
    played = scene
    if (!scene.isHere) return void dot?.leave()
    dot ??= open()
    dot.join()
    dot.setActivity(scene.activity)
    if (scene.availability !== before?.availability) void dot.setAvailability(scene.availability)
    if (scene.says !== before?.says) void dot.setCustomStatus(scene.says)
  }

  update()
  return { update, stop: () => dot?.close() }
}
