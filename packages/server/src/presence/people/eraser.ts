// Begins erasures and sees to it that each is finished. Before anything is erased, the archive has a row which
// says that the erasure has begun, and until it has ended every read of the archive hides the user. So an erasure
// that has begun is never undone: one that failed is repeated every second, and one whose process died is found
// in the archive, at the start and regularly, and finished here.
import type { Archive } from '../../archive/port.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { Unavailable } from '../unavailable.ts'
import type { Erasure } from './erasure.ts'

const REPEAT_MS = 1_000
const LOOK_EVERY_MS = 10_000
/** With a shared store, another process may still be at work on an erasure that began more recently. */
const ABANDONED_MS = 60_000
/** Erasures taken over at one look. */
const FOUND_MAX = 100
/** Erasures that have begun and are not finished; past it none is begun. */
const UNFINISHED_MAX = 10_000
const NOT_BEGUN = 'nothing was erased; try again soon'
const MAYBE_BEGUN =
  'the erasure may have begun, and then goes on by itself; repeat the request until it is answered with 204'
const BEGUN = 'the erasure has begun and goes on by itself; repeat the request until it is answered with 204'

export interface Eraser {
  /** Resolves when only the mark is left. Repeating it is harmless. */
  erase(userId: string): Promise<void>
  /** From now on, erasures that a process began before it died are finished here. */
  takeOver(): void
  stop(): void
}

export interface EraserParts {
  archive: Archive
  erasure: Erasure
  /** Without a shared store, every erasure that is not under way here was abandoned. */
  isStoreVolatile: boolean
  clock: Clock
  logger: Logger
}

export function createEraser({ archive, erasure, isStoreVolatile, clock, logger }: EraserParts): Eraser {
  const underWay = new Map<string, number>()
  const unfinished = new Set<string>()
  let repeating: Timer | null = null
  let looking: Timer | null = null
  let isStopped = false

  /** Counted, because a request may repeat one that is under way. */
  async function whileUnderWay<T>(userId: string, run: () => Promise<T>): Promise<T> {
    underWay.set(userId, (underWay.get(userId) ?? 0) + 1)
    try {
      return await run()
    } finally {
      const left = underWay.get(userId)! - 1
      if (left === 0) underWay.delete(userId)
      else underWay.set(userId, left)
    }
  }

  async function run(userId: string, begunAt: number): Promise<void> {
    try {
      await erasure.run(userId, begunAt)
      unfinished.delete(userId)
    } catch (error) {
      repeatLater([userId], error)
      throw error
    }
  }

  async function resume(userId: string): Promise<void> {
    await erasure.check(userId)
    const begunAt = clock.now()
    // Another process may have finished it. A user who came back since is a new user.
    if (await archive.resumeErasure(userId, begunAt)) await run(userId, begunAt)
    else unfinished.delete(userId)
  }

  function repeatLater(userIds: readonly string[], error: unknown): void {
    if (unfinished.size === 0 && error !== null)
      logger.error({ err: error }, 'an erasure could not be finished; it is tried again until it is')
    for (const userId of userIds) unfinished.add(userId)
    planRepeat()
  }

  function planRepeat(): void {
    if (isStopped || unfinished.size === 0) return
    repeating ??= clock.after(REPEAT_MS, () => void repeat())
  }

  async function repeat(): Promise<void> {
    for (const userId of [...unfinished]) {
      // A repeated request may have finished it here.
      if (isStopped || !unfinished.has(userId)) continue
      try {
        await whileUnderWay(userId, () => resume(userId))
      } catch {
        // To the end of the queue, so that an erasure that keeps failing does not hold up the others.
        if (unfinished.delete(userId)) unfinished.add(userId)
        break
      }
    }
    if (unfinished.size === 0) logger.info('all unfinished erasures are finished now')
    repeating = null
    planRepeat()
  }

  async function look(): Promise<void> {
    const begunBefore = isStoreVolatile ? Number.MAX_SAFE_INTEGER : clock.now() - ABANDONED_MS
    const found = await archive.unfinishedErasures(begunBefore, FOUND_MAX)
    const abandoned = found.filter((userId) => !underWay.has(userId) && !unfinished.has(userId))
    if (abandoned.length === 0) return
    logger.info({ users: abandoned.length }, 'erasures that were begun and not finished go on now')
    repeatLater(abandoned, null)
  }

  function lookAgain(): void {
    // What cannot be read now is found at the next look.
    void look()
      .catch((error) => logger.debug({ err: error }, 'unfinished erasures cannot be read'))
      .then(() => {
        if (!isStopped) looking = clock.after(LOOK_EVERY_MS, lookAgain)
      })
  }

  return {
    async erase(userId) {
      let advice = NOT_BEGUN
      try {
        if (unfinished.size >= UNFINISHED_MAX && !unfinished.has(userId))
          throw new Error('too many erasures wait to be finished')
        await erasure.check(userId)
        await whileUnderWay(userId, async () => {
          // If the answer is lost, the row may be there.
          advice = MAYBE_BEGUN
          const begunAt = clock.now()
          await archive.beginErasure(userId, begunAt)
          advice = BEGUN
          await run(userId, begunAt)
        })
      } catch (error) {
        throw new Unavailable('the user could not be erased', { cause: error, advice })
      }
    },
    takeOver: lookAgain,
    stop() {
      isStopped = true
      repeating?.stop()
      looking?.stop()
      erasure.stop()
      if (unfinished.size > 0)
        logger.warn(
          { users: unfinished.size },
          'stopped before erasures were finished; the next start goes on',
        )
    },
  }
}
