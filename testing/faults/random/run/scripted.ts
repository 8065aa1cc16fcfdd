// A directed case in the world of the random runs: users with choices, viewers that record every frame, and the same
// checks. The case only says what breaks when.
import { createRandom } from '../../../../packages/bench/src/platform/random.ts'
import type { FaultCase, FaultContext } from '../../fixture.ts'
import type { StoreKind } from '../deployment/store.ts'
import { causeFault } from '../faults/cause-fault.ts'
import type { Field } from '../history/history.ts'
import type { FaultKind } from '../plan/plan-faults.ts'
import { storyOf } from './story.ts'
import { startWorld, type World } from './world.ts'

const USERS = 60
const VIEWERS = 6
const STORIES_MAX = 3

export interface Script {
  name: string
  expectation: string
  store?: StoreKind
  /** What this user has chosen before the start. */
  choicesOf?(index: number): { field: Field; value: string }[]
  /** Breaks things; returns what is not as expected, beyond what the checks find. */
  run(world: World, context: FaultContext): Promise<string[]>
}

export function scripted({ name, expectation, store = 'redis', choicesOf, run }: Script): FaultCase {
  return {
    name,
    expectation,
    async run(context) {
      const viewers = Array.from({ length: VIEWERS }, (_, index) => `viewer-${index}`)
      const random = createRandom(1)
      const users = Array.from({ length: USERS }, (_, index) => ({
        id: `u${index}`,
        devices: 1 + (index % 2),
        contacts: viewers.filter(() => random() < 0.5),
        choices: choicesOf?.(index) ?? [],
      }))
      const options = { seed: 1, store, serverCount: 2, users, viewers, firstViewers: VIEWERS / 2 }
      const world = await startWorld(options, context.postgres)
      try {
        const violations = await world.begin()
        const problems: string[] = []
        if (violations.length === 0) {
          problems.push(...(await run(world, context)))
          violations.push(...(await world.quiet()), ...(await world.finish()))
        }
        const counts = Map.groupBy(violations, ({ check }) => check)
        const notes = [...counts].map(([check, all]) => `${check}: ${all.length} violations`)
        problems.push(...violations.slice(0, STORIES_MAX).map((one) => storyOf(world.history, one)))
        return {
          userCount: USERS,
          falseTransitions: counts.get('false offline')?.length ?? 0,
          worstGhostMs: null,
          ghostMsMax: null,
          healMs: null,
          healMsMax: null,
          disagreements: counts.get('agreement')?.length ?? 0,
          notes,
          problems,
        }
      } finally {
        await world.stop()
      }
    },
  }
}

/** Causes a fault of the random runs; resolves when it has ended. */
export const cause = (world: World, kind: FaultKind, forMs = 0, which = 0): Promise<void> =>
  causeFault({ kind, at: 0, forMs, which }, world)

/** Ends all devices of these users, or connects them. */
export function move(world: World, users: (index: number) => boolean, to: 'here' | 'closed' | 'left'): void {
  for (const [index, person] of world.people.entries()) {
    if (!users(index)) continue
    for (const device of person.devices.keys())
      person.act(to === 'here' ? { do: 'connect', device } : { do: 'end', device, how: to })
  }
}
