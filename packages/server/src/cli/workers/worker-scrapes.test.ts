// The supervisor's part of a scrape, by a fake clock: it waits for all workers, but not for ever.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import type { Family } from '../../ops/exposition.ts'
import type { ToWorker } from './worker-messages.ts'
import { createWorkerScrapes } from './worker-scrapes.ts'

const FIGURES: Family[] = [
  { name: 'a', type: 'gauge', help: 'Something', samples: [{ suffix: '', labels: {}, value: 1 }] },
]

function createWorld(running: readonly boolean[]) {
  const clock = createFakeClock(0)
  const asked: [worker: number, id: number][] = []
  const senderOf = (worker: number) => (message: ToWorker) => void asked.push([worker, message.id])
  const senders = running.map((isRunning, worker) => (isRunning ? senderOf(worker) : null))
  const scrapes = createWorkerScrapes({ senders: () => senders, clock })
  const replies: Family[][] = []
  const scrape = () =>
    scrapes.take(0, { kind: 'scrape', id: 7 }, (message) => {
      if (message.kind === 'scraped' && message.id === 7) replies.push(message.families)
    })
  const answer = ([worker, id]: [number, number]) =>
    scrapes.take(worker, { kind: 'collected', id, families: FIGURES }, () => {})
  const sampleOf = (name: string) => replies[0]!.find((family) => family.name === name)?.samples
  return { clock, scrapes, asked, replies, scrape, answer, sampleOf }
}

test('[X8, C1] the answer has the figures of all workers, each with its label', () => {
  const { asked, replies, scrape, answer, sampleOf } = createWorld([true, true])
  scrape()
  expect(asked.map(([worker]) => worker)).toEqual([0, 1])
  for (const one of asked) answer(one)
  // A second answer of the same worker changes nothing.
  answer(asked[0]!)
  expect(replies).toHaveLength(1)
  expect(sampleOf('a')).toEqual([
    { suffix: '', labels: { worker: '0' }, value: 1 },
    { suffix: '', labels: { worker: '1' }, value: 1 },
  ])
  expect(sampleOf('greendot_workers_missing')).toMatchObject([{ value: 0 }])
})

test('[X8, C7] a worker that hangs or is gone delays the answer for a bounded time, and is counted as missing', async () => {
  const { clock, scrapes, asked, replies, scrape, answer, sampleOf } = createWorld([true, false, true])
  scrapes.restarted(1)
  scrape()
  answer(asked[0]!)
  expect(replies).toEqual([])
  await clock.advance(5_000)
  expect(sampleOf('a')).toHaveLength(1)
  expect(sampleOf('greendot_workers_missing')).toMatchObject([{ value: 2 }])
  expect(sampleOf('greendot_worker_restarts_total')!.map(({ value }) => value)).toEqual([0, 1, 0])
})
