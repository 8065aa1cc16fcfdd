// Commands that wait for too many checks are given up, and checks that come late count once.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createIntervals } from '../platform/intervals.ts'
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
  const clock = createFakeClock(0)
  let [elapsedMs, wake] = [0, () => {}]
  const every = createIntervals({
    elapsed: () => elapsedMs,
    after(_, run) {
      wake = run
      return { stop() {} }
    },
  })
  const answers = watchLateAnswers({ every })
  const answer = Promise.withResolvers<string>()
  const waiting = answers.wait(answer.promise)
  // The process stands still for a minute before each of these checks: together they are nine.
  for (let checks = 0; checks < 9; checks++) {
    elapsedMs += 60_000
    wake()
    await clock.advance(0)
  }
  answer.resolve('OK')
  expect(await waiting).toBe('OK')
  const late = answers.wait(new Promise(() => undefined)).catch((error: unknown) => error)
  for (let checks = 0; checks < 11; checks++) {
    elapsedMs += 60_000
    wake()
    await clock.advance(0)
  }
  expect(String(await late)).toBe(`Error: ${LATE}`)
})
