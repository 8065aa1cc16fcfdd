import { expect, test } from 'bun:test'
import { createAppending } from './appending.ts'
import type { LogRecord } from './port.ts'

const record = (text: string): LogRecord => ({ userId: 'a', text })

/** Writes end when the test says so. */
function scene() {
  const writes: { lane: number; texts: string[]; end: (error?: Error) => void }[] = []
  const appending = createAppending(
    (lane, records) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error))
        writes.push({ lane, texts: records.map(({ text }) => text), end })
      }),
  )
  return { appending, writes }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('[C3] a lane has one write at a time, and what comes meanwhile goes together', async () => {
  const { appending, writes } = scene()
  const puts = ['1', '2', '3'].map((text) => appending.put(0, [record(text)]))
  const other = appending.put(1, [record('x')])
  expect(writes.map(({ lane, texts }) => [lane, ...texts])).toEqual([
    [0, '1'],
    [1, 'x'],
  ])
  writes[1]!.end()
  await other
  writes[0]!.end()
  await puts[0]
  await turn()
  expect(writes[2]!.texts).toEqual(['2', '3'])
  writes[2]!.end()
  await Promise.all(puts)
  await appending.idle()
})

test('[C3] after a failure what waited behind it is rejected as well, and later records are written', async () => {
  const { appending, writes } = scene()
  const puts = ['1', '2'].map((text) => appending.put(0, [record(text)]))
  const outcomes = Promise.allSettled(puts)
  writes[0]!.end(new Error('away'))
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const later = appending.put(0, [record('3')])
  expect(writes.map(({ texts }) => texts)).toEqual([['1'], ['3']])
  writes[1]!.end()
  await later
})

test('[C3] a write is bounded, and a long put is written in parts', async () => {
  const { appending, writes } = scene()
  const put = appending.put(
    0,
    Array.from({ length: 5 }, (_, index) => record(String(index).repeat(100_000))),
  )
  for (let write = 0; write < 3; write++) {
    expect(writes[write]!.texts.join('').length).toBeLessThanOrEqual(256 * 1024)
    writes[write]!.end()
    await turn()
  }
  await put
  expect(writes.flatMap(({ texts }) => texts.map((text) => text[0])).join('')).toBe('01234')
  const many = appending.put(
    0,
    Array.from({ length: 501 }, () => record('x')),
  )
  expect(writes[3]!.texts).toHaveLength(500)
  writes[3]!.end()
  await turn()
  writes[4]!.end()
  await many
})

test('[C3] what waits is bounded', async () => {
  const { appending, writes } = scene()
  const long = record('x'.repeat(16 * 1024 * 1024))
  const first = appending.put(0, [long])
  await expect(appending.put(0, [long])).rejects.toThrow('too many')
  writes[0]!.end()
  await first
  const next = appending.put(0, [long])
  writes[1]!.end()
  await next
})
