// What clients and backends ask over HTTP, without HTTP: the same parts of a process, over the simulated network. A
// request to a process that crashes meanwhile is never answered.
import type { QueriedPresence } from '@greendot/protocol'
import type { Choice, Field } from '../../faults/random/history/history.ts'
import type { Ground } from '../world/ground.ts'
import type { ServerProcess } from '../world/process.ts'

const PATIENCE_MS = 15_000

/** Runs something in the process; null when there was no answer. */
function request<T>(
  { network, timeline }: Ground,
  process: ServerProcess,
  run: () => Promise<T>,
): Promise<{ value: T } | { error: unknown } | null> {
  return new Promise((resolve) => {
    const from = 'backend'
    timeline.at(timeline.now() + PATIENCE_MS, () => resolve(null))
    const answer = (result: { value: T } | { error: unknown }) =>
      timeline.at(timeline.now() + network.latencyMs(), () =>
        network.whenOpen(from, process.name, () => process.machine.isAlive() && resolve(result)),
      )
    timeline.at(timeline.now() + network.latencyMs(), () =>
      network.whenOpen(from, process.name, () =>
        process.machine.deliver(() => {
          if (!process.isServing()) return void answer({ error: new Error('not serving') })
          run().then(
            (value) => answer({ value }),
            (error: unknown) => answer({ error }),
          )
        }),
      ),
    )
  })
}

export async function choose(
  ground: Ground,
  process: ServerProcess,
  userId: string,
  field: Field,
  value: string,
): Promise<Choice['outcome']> {
  const { actions } = process.pipeline()!
  const answer = await request(ground, process, async () => {
    if (field === 'availability') {
      const status = value as 'auto' | 'away' | 'busy' | 'invisible'
      return (await actions.setAvailability(userId, { status, expiresAt: null })).ok
    }
    if (field === 'text')
      return (await actions.setCustomStatus(userId, { text: value, emoji: null, expiresAt: null })).ok
    const statusVisibility = value as 'everyone' | 'contacts' | 'nobody'
    await actions.changeSettings(userId, {
      privacy: { statusVisibility },
      awayAfterMs: undefined,
      keepsHistory: undefined,
    })
    return true
  })
  if (answer === null) return 'unanswered'
  return 'value' in answer && answer.value ? 'acknowledged' : 'refused'
}

export interface Queried {
  presences: readonly QueriedPresence[]
  isDegraded: boolean
}

/** Null when there was no answer, or an error. */
export async function query(
  ground: Ground,
  process: ServerProcess,
  viewer: string,
  userIds: readonly string[],
): Promise<Queried | null> {
  const { viewerReader } = process.pipeline()!
  const answer = await request(ground, process, () =>
    viewerReader.read({ kind: 'user', userId: viewer }, userIds),
  )
  if (answer === null || 'error' in answer) return null
  return { presences: answer.value.found, isDegraded: answer.value.isDegraded }
}
