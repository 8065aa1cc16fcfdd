import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { type Watched, watchAnswers } from './silence.ts'

function connection() {
  const stream = {
    bytesRead: 0,
    destroyed: false,
    destroy() {
      stream.destroyed = true
    },
  }
  return { stream, commandQueue: { length: 0 } } satisfies Watched
}

test('[C7] a connection that owes an answer and sends nothing is closed', async () => {
  const clock = createFakeClock(0)
  const silent = connection()
  watchAnswers(() => [silent], clock)
  silent.commandQueue.length = 1
  await clock.advance(1_500)
  expect(silent.stream.destroyed).toBe(false)
  await clock.advance(500)
  expect(silent.stream.destroyed).toBe(true)
})

test('[C7] a connection without open commands may be silent', async () => {
  const clock = createFakeClock(0)
  const idle = connection()
  watchAnswers(() => [idle], clock)
  await clock.advance(60_000)
  expect(idle.stream.destroyed).toBe(false)
})

test('[C7] a connection on which answers arrive is only slow', async () => {
  const clock = createFakeClock(0)
  const slow = connection()
  watchAnswers(() => [slow], clock)
  slow.commandQueue.length = 1_000
  for (let second = 0; second < 20; second++) {
    slow.stream.bytesRead++
    await clock.advance(1_000)
  }
  expect(slow.stream.destroyed).toBe(false)
})

test('[C7] a process that gets no processor does not take its own delay for silence', () => {
  let look = () => {}
  const clock = {
    ...createFakeClock(0),
    every(_: number, run: () => void) {
      look = run
      return { stop() {} }
    },
  }
  const unread = connection()
  watchAnswers(() => [unread], clock)
  unread.commandQueue.length = 1
  look()
  // Whole seconds pass here without a turn of the event loop; the answer is read in the first one.
  look()
  unread.stream.bytesRead = 5
  unread.commandQueue.length = 0
  look()
  expect(unread.stream.destroyed).toBe(false)
})

test('a connection that has not been opened yet is left alone', async () => {
  const clock = createFakeClock(0)
  watchAnswers(() => [{ commandQueue: { length: 3 } }], clock)
  await clock.advance(10_000)
})
