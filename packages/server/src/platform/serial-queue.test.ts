// Serial queues: jobs of one key never overlap, jobs of different keys do, and the queues are bounded.
import { expect, test } from 'bun:test'
import { createKeyedQueues, createSerialQueue } from './serial-queue.ts'

test('[C7] jobs of one key run in order, jobs of another key run concurrently', async () => {
  const queueFor = createKeyedQueues(10, 'the test')
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queueFor('a', async () => {
    await gate.promise
    order.push('first')
  })
  const second = queueFor('a', async () => order.push('second'))
  await queueFor('b', async () => order.push('other'))
  expect(order).toEqual(['other'])
  gate.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['other', 'first', 'second'])
})

test('[C7] a job that fails does not affect the next', async () => {
  const enqueue = createSerialQueue(10, 'the test')
  const failing = enqueue(() => Promise.reject(new Error('mine')))
  const next = enqueue(async () => 'done')
  await expect(failing).rejects.toThrow('mine')
  expect(await next).toBe('done')
})

test('[C7] a job over the limit is rejected, and finished jobs make room', async () => {
  class Full extends Error {}
  const queueFor = createKeyedQueues(2, 'the test', (why) => new Full(why))
  const gate = Promise.withResolvers<void>()
  const waiting = [queueFor('a', () => gate.promise), queueFor('b', () => gate.promise)]
  await expect(queueFor('c', async () => 'in')).rejects.toThrow(new Full('2 already wait for the test'))
  gate.resolve()
  await Promise.all(waiting)
  expect(await queueFor('c', async () => 'in')).toBe('in')
})
