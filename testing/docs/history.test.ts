// Holds docs/history.md against the code: its answers have the shape of the real ones, and its limits are those of the
// server. Its shell blocks are run by docs.test.ts.
import { expect, test } from 'bun:test'
import type { z } from 'zod'
import { allHistory, userHistory } from '../../packages/server/src/http/openapi/history-answer.ts'
import { spanOf } from '../../packages/server/src/input/history-schemas.ts'
import { INTERVALS_MAX } from '../../packages/server/src/presence/people/history.ts'
import { toUserHistory } from '../../packages/server/src/presence/people/history-view.ts'
import { blocksOf, documentOf, section } from './docs-text.ts'

const PATH = 'docs/history.md'
const DAY_MS = 86_400_000

const exampleIn = (heading: string) =>
  JSON.parse(blocksOf(PATH, 'json', section(PATH, heading))[0]!.text) as unknown

function expectShape(schema: z.ZodType, example: unknown): void {
  const parsed = schema.safeParse(example)
  expect(parsed.error?.message).toBeUndefined()
  // A field that the answer does not have would be dropped.
  expect(parsed.data).toEqual(example)
}

test('[X6] the answers in docs/history.md are answers of the server', () => {
  expectShape(userHistory.content!.schema!, exampleIn('One user'))
  expectShape(allHistory.content!.schema!, exampleIn('All users'))
})

test('[X6] the sums in docs/history.md are those of its intervals', () => {
  const example = exampleIn('One user') as ReturnType<typeof toUserHistory>
  const intervals = example.intervals.map(({ from, to, ...rest }) => ({ ...rest, fromAt: from, toAt: to }))
  expect(toUserHistory('alice', intervals, example.from, example.to)).toEqual(example)
})

test('[X6] the limits in docs/history.md are those of the server', () => {
  const text = documentOf(PATH).replaceAll('\n', ' ')
  expect(text).toContain(`at most ${INTERVALS_MAX.toLocaleString('en')} intervals`)
  expect(text).toContain('at most 92 days apart; by default the last seven days')
  const now = 1_893_456_000_000
  expect(spanOf({}, now)).toEqual({ ok: true, value: { from: now - 7 * DAY_MS, to: now } })
  expect(spanOf({ from: now - 92 * DAY_MS }, now).ok).toBe(true)
  expect(spanOf({ from: now - 92 * DAY_MS - 1 }, now).ok).toBe(false)
})
