// What counts as a difference between two worlds, and what the promise permits.
import { expect, test } from 'bun:test'
import { createNormaliser, firstDifference } from './difference.ts'
import type { Entry } from './stage.ts'

const FLUSH_MS = 50

const change = (userId: string, version: number, status = 'online') => ({ user_id: userId, status, version })
const changes = (at: number, ...changes: object[]): Entry => ({
  at,
  text: JSON.stringify({ type: 'presence_change', changes }),
})
const frame = (at: number, text: string): Entry => ({ at, text: JSON.stringify({ type: text }) })

function differ(real: readonly Entry[], without: readonly Entry[]): boolean {
  const lines = [real, without].map((entries) => [{ name: 'socket', entries: [...entries] }])
  return firstDifference(lines[0]!, lines[1]!, { flushMs: FLUSH_MS, hiddenId: 'hidden' }) !== null
}

const [one, two] = [change('other', 1), change('mutual', 1)]

test('[S6] instants do not count', () => {
  expect(differ([changes(0, one), frame(20, 'self')], [changes(30, one), frame(900, 'self')])).toBe(false)
})

test('[S6] an entry that is missing, added or different is a difference', () => {
  expect(differ([changes(0, one)], [])).toBe(true)
  expect(differ([], [frame(0, 'self')])).toBe(true)
  expect(differ([changes(0, one)], [changes(0, change('other', 2))])).toBe(true)
  expect(differ([changes(0, one)], [changes(0, one, one)])).toBe(true)
  expect(differ([changes(0, one)], [{ at: 0, text: `data: ${changes(0, one).text} x` }])).toBe(true)
})

test('[S6, W5] changes may be in one frame or in neighbouring ones, in any order', () => {
  expect(differ([changes(0, one, two)], [changes(0, two), changes(50, one)])).toBe(false)
  expect(differ([changes(0, one), changes(50, two)], [changes(0, two), changes(50, one)])).toBe(false)
})

test('[S6, W5] changes that are not in neighbouring flushes keep their order', () => {
  expect(differ([changes(0, one), changes(500, two)], [changes(0, two), changes(500, one)])).toBe(true)
  expect(differ([changes(0, one, two)], [changes(0, two), changes(500, one)])).toBe(true)
})

test('[S6] changes that share a frame in both worlds keep their order', () => {
  expect(differ([changes(0, one, two)], [changes(0, two, one)])).toBe(true)
})

test('[S6] a change and another frame may change places only when they are near', () => {
  expect(differ([changes(0, one), frame(40, 'self')], [frame(0, 'self'), changes(40, one)])).toBe(false)
  expect(differ([changes(0, one), frame(400, 'self')], [frame(0, 'self'), changes(400, one)])).toBe(true)
})

test('[S6] answers keep their order', () => {
  expect(differ([frame(0, 'ok'), frame(1, 'error')], [frame(0, 'error'), frame(1, 'ok')])).toBe(true)
})

test('[S6, W5] an own view is pushed, so it may change places with an answer that is near', () => {
  const own = (at: number) => ({ at, text: '{"type":"self","presence":{"user_id":"viewer","version":3}}' })
  expect(differ([frame(0, 'ok'), own(40)], [own(0), frame(40, 'ok')])).toBe(false)
  expect(differ([frame(0, 'ok'), own(400)], [own(0), frame(400, 'ok')])).toBe(true)
  expect(differ([frame(0, 'ok'), own(40)], [frame(0, 'ok')])).toBe(true)
})

test('[S6, W5] a change may be missing when a newer one of the same user came at once', () => {
  const newer = change('other', 2)
  expect(differ([changes(0, one), changes(50, newer)], [changes(50, newer)])).toBe(false)
  expect(differ([changes(50, newer)], [changes(0, one), changes(50, newer)])).toBe(false)
  expect(differ([changes(0, one), changes(500, newer)], [changes(500, newer)])).toBe(true)
  expect(differ([changes(0, one), changes(50, two)], [changes(50, two)])).toBe(true)
})

test('[S6] what is told of a hidden user and taken back at once is a difference', () => {
  const [seen, gone] = [change('hidden', 7), change('hidden', 0)]
  expect(differ([changes(0, seen), changes(50, gone)], [changes(50, gone)])).toBe(true)
  expect(
    differ([changes(0, seen), changes(50, change('hidden', 8))], [changes(50, change('hidden', 8))]),
  ).toBe(false)
  const moved = change('hidden', 7, 'away')
  expect(differ([changes(0, moved), changes(50, seen)], [changes(50, seen)])).toBe(true)
})

test('[S6] keep-alives of a stream do not count', () => {
  expect(differ([{ at: 15_000, text: ':\n\n' }], [])).toBe(false)
})

test('[S6] a line more or less is a difference, and so is another name', () => {
  const leniency = { flushMs: FLUSH_MS, hiddenId: 'hidden' }
  const line = { name: 'socket', entries: [] }
  expect(firstDifference([line], [], leniency)).toContain('1 lines, not 0')
  expect(firstDifference([line], [{ ...line, name: 'stream' }], leniency)).not.toBeNull()
})

test('[S6] session ids are compared by which is which', () => {
  const normalised = (...ids: string[]) => {
    const normalise = createNormaliser()
    const entries = ids.map((id) => ({ at: 0, text: `{"session_id":"${id}"}` }))
    return normalise([{ name: 'socket', entries }])
  }
  expect(normalised('a', 'b', 'a')).toEqual(normalised('x', 'y', 'x'))
  expect(normalised('a', 'b', 'a')).not.toEqual(normalised('x', 'y', 'y'))
})

test('[S6] the server time of a welcome does not count, instants elsewhere do', () => {
  const normalise = createNormaliser()
  const textOf = (text: string) =>
    normalise([{ name: 'socket', entries: [{ at: 0, text }] }])[0]!.entries[0]!.text
  expect(textOf('{"type":"welcome","server_time":1,"self":{"last_seen":2}}')).toBe(
    '{"type":"welcome","server_time":…,"self":{"last_seen":2}}',
  )
})
