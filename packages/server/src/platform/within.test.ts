// Work that ends in time gives its result, and work that takes too long gives way to another.
import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { within } from './within.ts'

const LIMIT_MS = 1_000

describe('waiting with a limit', () => {
  test('gives what the work gives, also its error, and leaves no timer', async () => {
    const clock = createFakeClock(0)
    expect(await within(clock, LIMIT_MS, Promise.resolve('done'), () => 'late')).toBe('done')
    const failing = within(clock, LIMIT_MS, Promise.reject(new Error('broken')), () => 'late')
    expect(await failing.catch(String)).toBe('Error: broken')
    expect(clock.timerCount()).toBe(0)
  })

  test('gives another value, or an error, when the work takes too long', async () => {
    const clock = createFakeClock(0)
    const work = new Promise<string>(() => undefined)
    const value = within(clock, LIMIT_MS, work, () => 'late')
    const error = within(clock, LIMIT_MS, work, () => {
      throw new Error('no answer')
    })
    const problem = error.catch(String)
    await clock.advance(LIMIT_MS)
    expect([await value, await problem]).toEqual(['late', 'Error: no answer'])
  })
})
