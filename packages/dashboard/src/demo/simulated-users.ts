// Plays the simulated neighbours, over real connections of theirs. One window of a browser does it for all
// of them and hands it on when it goes: every neighbour keeps their device, so nobody sees a blip.
import { connect, type Dot } from '@greendot/client'
import { every, now, type Timer } from '../clock.ts'
import { NEIGHBOURS } from './sample-users.ts'
import { platformOf, type Scene, sceneOf } from './simulated-schedule.ts'

const LOOK_EVERY_MS = 1_000
const LOCK = 'greendot neighbours'

export interface Neighbours {
  stop(): void
}

/** `except` is played by somebody real. */
export function startNeighbours(except: string): Neighbours {
  const ending = new AbortController()
  let over = () => {}
  const until = new Promise<void>((resolve) => {
    over = resolve
  })

  async function play(): Promise<void> {
    if (ending.signal.aborted) return
    const actors = NEIGHBOURS.flatMap((name, index) => (name === except ? [] : [createActor(name, index)]))
    const timer = every(LOOK_EVERY_MS, () => {
      for (const actor of actors) actor.look()
    })
    await until
    timer.stop()
    for (const actor of actors) actor.stop()
  }

  navigator.locks.request(LOCK, { signal: ending.signal }, play).catch(() => {
    // We gave up waiting for our turn ourselves.
  })
  return {
    stop() {
      ending.abort()
      over()
    },
  }
}

function createActor(name: string, index: number): Timer & { look(): void } {
  let dot: Dot | null = null
  let played: Scene | null = null

  function enter(): Dot {
    return connect({
      url: location.origin,
      token: `dev:${name}`,
      deviceId: `simulated-${name}`,
      platform: platformOf(index),
      tabs: 'separate',
      idleDetection: 'off',
    })
  }

  function look(): void {
    const scene = sceneOf(index, now())
    if (scene === played) return
    const before = played
    played = scene
    if (!scene.isHere) return void dot?.leave()
    dot ??= enter()
    dot.join()
    dot.setActivity(scene.activity)
    if (scene.availability !== before?.availability) void dot.setAvailability(scene.availability)
    if (scene.says !== before?.says) void dot.setCustomStatus(scene.says)
  }

  look()
  return { look, stop: () => dot?.close() }
}
