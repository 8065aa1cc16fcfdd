// Commands that wait for too many looks are given up, and looks that come late count once.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { watchLateAnswers } from './late-answers.ts'

const LATE = 'the answer is late'

test('[C7] a command that is answered late is given up after five seconds, and others are not', async () => {
  const clock = createFakeClock(0)
  const answers = watchLateAnswers(clock)
  const first = answers.wait(new Promise(() => undefined))
  let problem: unknown = null
  first.catch((error: unknown) => {
    problem = error
  })
  await clock.advance(4_500)
  const second = answers.wait(Promise.resolve('PONG'))
  const third = Promise.withResolvers<string>()
  const slow = answers.wait(third.promise)
  expect(problem).toBeNull()
  await clock.advance(1_000)
  expect(String(problem)).toBe(`Error: ${LATE}`)
  expect(await second).toBe('PONG')
  third.resolve('OK')
  expect(await slow).toBe('OK')
  answers.stop()
  expect(clock.timerCount()).toBe(0)
})

test('[C7] a process that gets no processor does not take its own delay for a late answer', async () => {
  let look = () => {}
  const answers = watchLateAnswers({
    every(_, run) {
      look = run
      return { stop() {} }
    },
  })
  const answer = Promise.withResolvers<string>()
  const waiting = answers.wait(answer.promise)
  // Whole seconds pass between these looks without a turn of the event loop.
  for (let looks = 0; looks < 9; looks++) look()
  answer.resolve('OK')
  expect(await waiting).toBe('OK')
})
