// Choices of one user in the same millisecond: the later one wins, whichever way it came. On the real tracker,
// store and archive.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createPipeline,
  PIPELINE_STARTS_AT as NOW,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { type Actions, createActions, type Outcome } from './actions.ts'
import { createHistory } from './history.ts'

let world: Pipeline
let actions: Actions

beforeEach(async () => {
  world = await createPipeline()
  actions = createActions(world.tracker, world.clock, createHistory(world))
})

/** The record after the action; time does not move. */
async function through(action: Promise<Outcome>) {
  const outcome = await world.done(action)
  if (!outcome.ok) throw new Error(`not applied: ${outcome.failure.message}`)
  return outcome.tracked.record
}

const say = (text: string | null) =>
  through(actions.setCustomStatus('bob', { text, emoji: null, expiresAt: null }))
const be = (status: 'auto' | 'away' | 'busy' | 'invisible') =>
  through(actions.setAvailability('bob', { status, expiresAt: null }))

describe('choices in the same millisecond', () => {
  test('[S3] each custom status replaces the one before, whatever its text', async () => {
    for (const text of ['b', 'a', 'z', 'c', null, 'b', 'a']) {
      expect((await say(text)).customStatus?.text).toBe(text)
    }
  })

  test('[S1] each availability replaces the one before', async () => {
    for (const status of ['invisible', 'busy', 'away', 'auto', 'invisible', 'away'] as const) {
      expect((await be(status)).availability?.status).toBe(status)
    }
  })

  test('[P20] [S5] of two changes of privacy under way at once the later one holds', async () => {
    const choose = (statusVisibility: 'everyone' | 'nobody') =>
      actions.changeSettings('bob', {
        privacy: { statusVisibility },
        awayAfterMs: undefined,
        keepsHistory: undefined,
      })
    const [, last] = await world.done(Promise.all([choose('everyone'), choose('nobody')]))
    expect(last.record.privacy?.statusVisibility).toBe('nobody')
  })

  test('[P20] after many choices in one instant the next instant still wins', async () => {
    for (let round = 0; round < 20; round++) await say(`z${round}`)
    await world.clock.advance(1)
    expect((await say('a')).customStatus?.text).toBe('a')
    await world.clock.advance(60_000)
    const { customStatus } = await say('later')
    expect(customStatus?.text).toBe('later')
    expect(customStatus?.setAt).toBe(NOW + 60_001)
  })

  test('[S3] an expiry that is not in the future is refused, and the choice before it stands', async () => {
    await say('first')
    for (const expiresAt of [NOW, NOW - 1]) {
      const outcome = await actions.setCustomStatus('bob', { text: 'late', emoji: null, expiresAt })
      expect(outcome).toMatchObject({ ok: false, failure: { code: 'invalid_expiry' } })
    }
    expect((await be('busy')).customStatus?.text).toBe('first')
  })
})
