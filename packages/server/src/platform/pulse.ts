// Whether a remote service answers: probed periodically, at once when there is a reason for doubt, and more
// often while it does not answer. `onTrouble` and `onBack` are called once for each change, in turn.
import type { Clock, Timer } from './clock.ts'
import { within } from './within.ts'

export interface PulseParts {
  /** Null when it answers, otherwise the reason. */
  probe(): Promise<string | null>
  everyMs: number
  /** The interval while there is no answer. */
  awayEveryMs: number
  onTrouble(why: string): void
  onBack(): void
  clock: Clock
}

export interface Pulse {
  /** A call failed or a connection broke: probe now. */
  doubt(): void
  /** Resolves with the first answer; rejects with the reason after `withinMs`. */
  first(withinMs: number): Promise<void>
  stop(): void
}

type Health = { state: 'unasked' } | { state: 'well' } | { state: 'away'; why: string }

export function startPulse({ probe, everyMs, awayEveryMs, onTrouble, onBack, clock }: PulseParts): Pulse {
  const firstAnswer = Promise.withResolvers<void>()
  let health: Health = { state: 'unasked' }
  let asking: { doubted: boolean } | null = null
  let timer: Timer | null = null
  let isStopped = false

  async function ask(): Promise<void> {
    timer?.stop()
    const round = { doubted: false }
    asking = round
    const why = await probe().catch((error: unknown) => String(error))
    asking = null
    if (isStopped) return
    noteAnswer(why)
    if (round.doubted && health.state === 'well') return ask()
    timer = clock.after(health.state === 'well' ? everyMs : awayEveryMs, () => void ask())
  }

  function noteAnswer(why: string | null): void {
    const before = health
    health = why === null ? { state: 'well' } : { state: 'away', why }
    if (why === null) firstAnswer.resolve()
    if (why !== null && before.state !== 'away') onTrouble(why)
    if (why === null && before.state === 'away') onBack()
  }

  void ask()

  return {
    doubt() {
      if (asking !== null) asking.doubted = true
      else if (health.state === 'well' && !isStopped) void ask()
    },
    first: (withinMs) =>
      within(clock, withinMs, firstAnswer.promise, () => {
        throw new Error(health.state === 'away' ? health.why : 'there is no answer')
      }),
    stop() {
      isStopped = true
      timer?.stop()
    },
  }
}
