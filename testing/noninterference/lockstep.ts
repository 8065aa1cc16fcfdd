// Moves the clocks of several worlds together, so that the same instant is present in all of them whatever
// each is busy with. A world is quiet when nothing is open and nothing has happened for a whole flush
// interval: then everything that was to be told has been told, and two worlds can be compared.
import type { FakeClock } from '../worlds/fake-clock.ts'

export interface Driven {
  clock: FakeClock
  /** Something has begun that is not done: a batch, a question to the archive, a wave; or a deadline has passed. */
  isBusy(): Promise<boolean>
  /** Grows with everything that happens: a frame, an answer, a message on the bus, a question to the archive and its answer. */
  activity(): number
}

export interface Lockstep {
  now(): number
  advance(ms: number): Promise<void>
  /** Moves time on, as little as possible, until the promises are there; throws what they throw. */
  until(...promises: readonly Promise<unknown>[]): Promise<void>
  /** Moves time on until every world is quiet. */
  quiet(): Promise<void>
}

/** Turns without time before a millisecond passes; most promises need no more than that. */
const TURNS_MAX = 10
const WAIT_MS_MAX = 60_000
/** Flush intervals. A paced audience and a slow archive take a few of them. */
const INTERVALS_MAX = 200
/** A flush that falls due at the end of an interval belongs to it. */
const MARGIN_MS = 10

export function createLockstep(worlds: readonly Driven[], flushMs: number): Lockstep {
  const now = () => worlds[0]!.clock.now()
  const activity = () => worlds.reduce((sum, world) => sum + world.activity(), 0)

  async function advance(ms: number): Promise<void> {
    await Promise.all(worlds.map(({ clock }) => clock.advance(ms)))
  }

  return {
    now,
    advance,
    async until(...promises) {
      let isDone = false
      const all = Promise.all(promises).finally(() => {
        isDone = true
      })
      // `await all` below throws what it throws; the loop only has to end.
      all.catch(() => {})
      for (let turn = 0; !isDone; turn++) {
        if (turn > WAIT_MS_MAX) throw new Error(`not done after ${WAIT_MS_MAX} ms`)
        await advance(turn < TURNS_MAX ? 0 : 1)
      }
      await all
    },
    async quiet() {
      for (let interval = 0; interval < INTERVALS_MAX; interval++) {
        const before = activity()
        await advance(flushMs + MARGIN_MS)
        const areBusy = await Promise.all(worlds.map((world) => world.isBusy()))
        if (activity() === before && !areBusy.includes(true)) return
      }
      throw new Error(`not quiet after ${INTERVALS_MAX} flush intervals`)
    },
  }
}
