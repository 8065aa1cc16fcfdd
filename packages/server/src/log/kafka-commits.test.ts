// Offsets that are committed together, on a fake clock and a sender that is held.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createKafkaCommits } from './kafka-commits.ts'

const GATHER_MS = 50

function createWorld() {
  const clock = createFakeClock(0)
  const sent: [number, string][][] = []
  const answers: PromiseWithResolvers<void>[] = []
  const commits = createKafkaCommits<string>(clock, (handled) => {
    sent.push([...handled])
    const answer = Promise.withResolvers<void>()
    answers.push(answer)
    return answer.promise
  })
  return { clock, sent, answers, commits }
}

test('[C3] offsets of a moment are one commit, with the newest of each partition', async () => {
  const { clock, sent, commits } = createWorld()
  commits.put(1, 'a')
  commits.put(2, 'b')
  commits.put(1, 'c')
  expect(sent).toEqual([])
  await clock.advance(GATHER_MS)
  expect(sent).toEqual([
    [
      [1, 'c'],
      [2, 'b'],
    ],
  ])
})

test('[C3] what comes during a commit goes with the next, and flush waits for both', async () => {
  const { clock, sent, answers, commits } = createWorld()
  commits.put(1, 'a')
  await clock.advance(GATHER_MS)
  commits.put(1, 'b')
  let isFlushed = false
  const flushed = commits.flush().then(() => {
    isFlushed = true
  })
  await clock.advance(GATHER_MS)
  expect(sent).toEqual([[[1, 'a']]])
  answers[0]!.reject(new Error('a failure is made up for by the next commit'))
  await clock.advance(0)
  expect({ sent, isFlushed }).toEqual({ sent: [[[1, 'a']], [[1, 'b']]], isFlushed: false })
  answers[1]!.resolve()
  await flushed
})

test('[C3] flush with nothing to commit sends nothing', async () => {
  const { sent, commits } = createWorld()
  await commits.flush()
  expect(sent).toEqual([])
})
