// Lines: jobs of one key never meet, those of different keys do, and no line grows without end.
import { expect, test } from 'bun:test'
import { createLine, createLines } from './serial-queue.ts'

test('[C7] jobs of one key run in the order they came, those of another beside them', async () => {
  const inLineFor = createLines(10, 'the test')
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = inLineFor('a', async () => {
    await gate.promise
    order.push('first')
  })
  const second = inLineFor('a', async () => order.push('second'))
  await inLineFor('b', async () => order.push('other'))
  expect(order).toEqual(['other'])
  gate.resolve()
  await Promise.all([first, second])
  expect(order).toEqual(['other', 'first', 'second'])
})

test('[C7] a job that fails fails alone', async () => {
  const inLine = createLine(10, 'the test')
  const failing = inLine(() => Promise.reject(new Error('mine')))
  const next = inLine(async () => 'done')
  await expect(failing).rejects.toThrow('mine')
  expect(await next).toBe('done')
})

test('[C7] calls beyond the limit are refused, and finished calls make room', async () => {
  const inLineFor = createLines(2, 'the test')
  const gate = Promise.withResolvers<void>()
  const waiting = [inLineFor('a', () => gate.promise), inLineFor('b', () => gate.promise)]
  await expect(inLineFor('c', async () => 'in')).rejects.toThrow('2 already wait for the test')
  gate.resolve()
  await Promise.all(waiting)
  expect(await inLineFor('c', async () => 'in')).toBe('in')
})
