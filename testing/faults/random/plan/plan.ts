// From a seed to everything that a run will do: the users and their first choices, the viewers, what users do and
// when, and which faults overlap. The plan is a plain value, so the same seed is the same run, as far as a real
// machine allows.
import { createRandom } from '../../../../packages/bench/src/platform/random.ts'
import type { StoreKind } from '../deployment/store.ts'
import type { Ending, Field } from '../history/history.ts'
import { type PlannedFault, planFaults } from './plan-faults.ts'

/** Users act for this long; then everything becomes quiet. */
export const ACTIVE_MS = 13_000
const ACTIONS_PER_USER = 2
const VIEWERS = 6

export interface PlannedUser {
  id: string
  devices: number
  contacts: string[]
  choices: { field: Field; value: string }[]
}

export type Action =
  | { do: 'connect'; device: number }
  | { do: 'end'; device: number; how: Exclude<Ending, 'lost'> }
  | { do: 'activity'; device: number; activity: 'active' | 'idle' }
  | { do: 'choose'; field: Field; value: string; via: 'http' | 'socket' }

export type Step =
  | { at: number; who: 'user'; user: number; action: Action }
  | { at: number; who: 'viewer'; viewer: number; action: 'reconnect' | 'arrive' }

export interface Plan {
  seed: number
  store: StoreKind
  hasKafka: boolean
  serverCount: number
  users: PlannedUser[]
  /** Those at the end arrive later and know nothing. */
  viewers: string[]
  firstViewers: number
  steps: Step[]
  faults: PlannedFault[]
}

export function planOf(seed: number, store: StoreKind, hasKafka = false): Plan {
  const random = createRandom(seed)
  const below = (count: number): number => Math.floor(random() * count)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const chance = (share: number): boolean => random() < share

  const viewers = Array.from({ length: VIEWERS }, (_, index) => `viewer-${index}`)
  let texts = 0
  const newText = (user: number): string => `text ${++texts} of u${user}`
  const choiceOf = (user: number): { field: Field; value: string } => {
    const field = pick(['availability', 'availability', 'text', 'text', 'visibility'] as const)
    if (field === 'text') return { field, value: newText(user) }
    if (field === 'visibility') return { field, value: pick(['everyone', 'contacts', 'nobody']) }
    return { field, value: pick(['auto', 'busy', 'invisible', 'away', 'auto']) }
  }

  const users = Array.from({ length: 60 + below(61) }, (_, index): PlannedUser => {
    const choices = chance(0.5) ? Array.from({ length: 1 + below(2) }, () => choiceOf(index)) : []
    return {
      id: `u${index}`,
      devices: 1 + below(3),
      contacts: viewers.filter(() => chance(0.5)),
      choices,
    }
  })

  const steps: Step[] = []
  const firstViewers = VIEWERS - 2
  for (let viewer = firstViewers; viewer < VIEWERS; viewer++)
    steps.push({ at: below(ACTIVE_MS), who: 'viewer', viewer, action: 'arrive' })
  for (let count = 0; count < 3; count++)
    steps.push({ at: below(ACTIVE_MS), who: 'viewer', viewer: below(firstViewers), action: 'reconnect' })

  for (const [user, { devices }] of users.entries()) {
    // A third of the users only stay connected, so that a false departure cannot hide.
    if (user % 3 === 0) continue
    const isConnected = Array.from({ length: devices }, () => true)
    const times = Array.from({ length: 1 + below(2 * ACTIONS_PER_USER) }, () => below(ACTIVE_MS))
    for (const at of times.sort((a, b) => a - b)) {
      const device = below(devices)
      const act = (action: Action) => steps.push({ at, who: 'user', user, action })
      const roll = random()
      if (!isConnected[device]) act({ do: 'connect', device })
      else if (roll < 0.35)
        act({ do: 'end', device, how: pick(['left', 'left', 'closed', 'closed', 'silent']) })
      else if (roll < 0.55) act({ do: 'activity', device, activity: pick(['active', 'idle']) })
      else act({ do: 'choose', ...choiceOf(user), via: pick(['http', 'socket']) })
      if (!isConnected[device] || roll < 0.35) isConnected[device] = !isConnected[device]
    }
  }
  steps.sort((a, b) => a.at - b.at)

  const serverCount = 2 + below(2)
  const faults = planFaults({ random, store, hasKafka, activeMs: ACTIVE_MS })
  return { seed, store, hasKafka, serverCount, users, viewers, firstViewers, steps, faults }
}
