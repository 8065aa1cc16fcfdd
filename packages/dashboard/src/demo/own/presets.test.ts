import { expect, test } from 'bun:test'
import { meetingEnd, presetsAt } from './presets.ts'

const MINUTE_MS = 60_000

test('[S3] a meeting ends at a full or half hour, at least 15 minutes ahead', () => {
  for (let minute = 0; minute < 120; minute++) {
    const now = Date.UTC(2030, 0, 1, 10, minute)
    const lastsMs = meetingEnd(now) - now
    expect(meetingEnd(now) % (30 * MINUTE_MS)).toBe(0)
    expect(lastsMs).toBeGreaterThanOrEqual(15 * MINUTE_MS)
    expect(lastsMs).toBeLessThan(45 * MINUTE_MS)
  }
})

test('[S3] the label of a preset starts with its text and emoji', () => {
  for (const { text, emoji, label } of presetsAt(Date.UTC(2030, 0, 1)))
    expect(label).toStartWith(`${text} ${emoji}`)
})
