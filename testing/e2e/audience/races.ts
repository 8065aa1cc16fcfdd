// Bob hides and says something in the same moment, again and again, with the hiding first on the wire;
// then he says something else and shows himself. A viewer who may see him only in between is told exactly
// that: nothing known, and then the open word.
import { expect } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { systemClock } from '../../../packages/server/src/platform/clock.ts'
import type { Scene } from '../scene.ts'
import { type Chosen, isHidden, positions, says, toldSince, untilDelivered } from './audience.ts'
import { openLine } from './line.ts'
import type { Ear } from './stream.ts'

const SETTINGS = '/api/v1/presence/settings'
const STATUS = '/api/v1/presence/status'
/** Turns of the loop between the two requests: none, and a few. */
const TURNS_MAX = 4

/** Choices that hide bob from alice, and the one that takes them all back. */
export const HIDING: readonly Chosen[] = [
  { status_visibility: 'nobody' },
  { status_visibility: 'contacts' },
  { deny: ['alice'] },
]
export const SHOWING: Chosen = { status_visibility: 'everyone', deny: [] }

export const textOf = ({ custom_status }: Presence) => custom_status?.text ?? null

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await systemClock.nextTurn()
}

/** Two lines of bob's: on one he chooses, on the other he says something. */
export async function linesOfBob(scene: Scene, url: string) {
  const [choosing, saying] = await Promise.all([openLine(url, 'dev:bob'), openLine(url, 'dev:bob')])
  scene.onEnd(choosing.close)
  scene.onEnd(saying.close)
  return {
    chooses: (chosen: Chosen) => choosing.put(SETTINGS, chosen),
    says: (text: string) => saying.put(STATUS, { text }),
  }
}

/** These are all alice's, who watches bob and sees him. */
export async function hideAndWhisper(
  scene: Scene,
  url: string,
  ears: readonly Ear[],
  rounds: number,
): Promise<void> {
  const bob = await linesOfBob(scene, url)
  for (let round = 0; round < rounds; round++) {
    const since = positions(ears)
    const allSee = (accept: (presence: Presence) => boolean) =>
      Promise.all(ears.map((ear, index) => ear.sees('bob', accept, { since: since[index]! })))
    const hides = bob.chooses(HIDING[round % HIDING.length]!)
    await turns(round % TURNS_MAX)
    const whispers = bob.says(`secret ${round}`)
    expect(await Promise.all([hides, whispers])).toEqual([200, 200])
    await allSee(isHidden)

    const speaks = bob.says(`open ${round}`)
    await turns(round % TURNS_MAX)
    const shows = bob.chooses(SHOWING)
    expect(await Promise.all([speaks, shows])).toEqual([200, 200])
    await allSee(says(`open ${round}`))
    await untilDelivered(url, ears)
    const told = toldSince(ears, since, 'bob').map((presences) => presences.map(textOf))
    expect(told).toEqual(ears.map(() => [null, `open ${round}`]))
  }
}
