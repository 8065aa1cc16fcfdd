// From a seed to everything that a run will do: the settings, the users and their first choices, the viewers, what users
// do and when, and the faults. The plan is a plain value, so it can be made smaller when it fails.

import type { Field } from '../../faults/random/history/history.ts'
import type { Action, PlannedUser } from '../../faults/random/plan/plan.ts'
import { type PlannedFault, planFaults } from '../faults/plan-faults.ts'
import { type Random, randomOf } from '../time/random.ts'
import { drawSettings, type SimulatedSettings } from '../world/settings.ts'

export type Step =
  | { at: number; who: 'user'; user: number; action: Action }
  | { at: number; who: 'viewer'; viewer: number; action: 'reconnect' | 'arrive' }

export interface Plan {
  seed: number
  settings: SimulatedSettings
  users: PlannedUser[]
  /** Those at the end arrive later and know nothing. */
  viewers: string[]
  firstViewers: number
  /** Users act and faults begin within this time. */
  activeMs: number
  steps: Step[]
  faults: PlannedFault[]
}

export function planOf(seed: number): Plan {
  const settings = drawSettings(randomOf(seed, 'settings'))
  const random = randomOf(seed, 'users')
  const viewers = Array.from({ length: 2 + random.below(3) }, (_, index) => `viewer-${index}`)
  const activeMs = random.between(5_000, 40_000)
  const firstViewers = Math.max(1, viewers.length - 1)
  const choiceOf = createChoices(random)
  const users = Array.from({ length: 2 + random.below(7) }, (_, index): PlannedUser => {
    const choices = random.isTrue(0.4) ? [choiceOf(index)] : []
    const contacts = viewers.filter(() => random.isTrue(0.5))
    return { id: `u${index}`, devices: 1 + random.below(3), contacts, choices }
  })

  const steps: Step[] = []
  for (let viewer = firstViewers; viewer < viewers.length; viewer++)
    steps.push({ at: random.fraction() * activeMs, who: 'viewer', viewer, action: 'arrive' })
  for (let count = random.below(3); count > 0; count--) {
    const viewer = random.below(firstViewers)
    steps.push({ at: random.fraction() * activeMs, who: 'viewer', viewer, action: 'reconnect' })
  }
  for (const [user, { devices }] of users.entries()) {
    // A third of the users only stay connected, so that a false departure cannot hide.
    if (user % 3 === 0) continue
    steps.push(...actionsOf(random, user, devices, activeMs, choiceOf))
  }
  steps.sort((a, b) => a.at - b.at)
  const faults = planFaults(randomOf(seed, 'faults'), settings, activeMs)
  return { seed, settings, users, viewers, firstViewers, activeMs, steps, faults }
}

type ChoiceOf = (user: number) => { field: Field; value: string }

function createChoices(random: Random): ChoiceOf {
  let texts = 0
  return (user) => {
    const field = random.pick(['availability', 'availability', 'text', 'text', 'visibility'] as const)
    if (field === 'text') return { field, value: `text ${++texts} of u${user}` }
    if (field === 'visibility') return { field, value: random.pick(['everyone', 'contacts', 'nobody']) }
    return { field, value: random.pick(['auto', 'busy', 'invisible', 'away', 'auto']) }
  }
}

function actionsOf(
  random: Random,
  user: number,
  devices: number,
  activeMs: number,
  choiceOf: ChoiceOf,
): Step[] {
  const isConnected = Array.from({ length: devices }, () => true)
  const times = Array.from({ length: 1 + random.below(8) }, () => random.fraction() * activeMs)
  return times
    .sort((a, b) => a - b)
    .map((at): Step => {
      const device = random.below(devices)
      const step = (action: Action): Step => ({ at, who: 'user', user, action })
      if (!isConnected[device]) {
        isConnected[device] = true
        return step({ do: 'connect', device })
      }
      const roll = random.fraction()
      if (roll < 0.4) {
        isConnected[device] = false
        return step({ do: 'end', device, how: random.pick(['left', 'left', 'closed', 'closed', 'silent']) })
      }
      // A reload: the device comes back at once.
      if (roll < 0.5) return step({ do: 'connect', device })
      if (roll < 0.6) return step({ do: 'activity', device, activity: random.pick(['active', 'idle']) })
      return step({ do: 'choose', ...choiceOf(user), via: random.pick(['http', 'socket']) })
    })
}
