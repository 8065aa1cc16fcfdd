// Rows of sessions: reused, but never mistaken for the session that had them before.
import { describe, expect, test } from 'bun:test'
import { PLATFORMS } from '@greendot/protocol'
import fc from 'fast-check'
import { NIL } from '../delivery/watch-index.ts'
import { ACTIVITY, createSessionTable, type Opening } from './session-table.ts'

const NOW = 1_750_000_000_000
const opening: Opening = {
  userId: 'bob',
  deviceId: 'd1',
  platform: 'mobile',
  activity: null,
  tokenExpiresAt: null,
}

describe('the session table', () => {
  test('a new row says what is known of the session, and nothing of the one before', () => {
    const table = createSessionTable(
      () => 'g-1',
      () => 0,
    )
    const old = table.add(3, { ...opening, tokenExpiresAt: NOW + 5 }, null, NOW)
    table.columns.badFrames[old] = 9
    table.columns.framesThisSecond[old] = 50
    table.columns.ownRevision[old] = 7
    table.columns.activity[old] = ACTIVITY.idle
    table.columns.awayAfterMs[old] = 1
    const oldId = table.sessionId(old)
    table.remove(old)
    expect(table.isLive(old)).toBe(false)
    const row = table.add(4, opening, null, NOW + 1)
    expect(row).toBe(old)
    expect(table.sessionId(row)).not.toBe(oldId)
    const { columns } = table
    expect(columns.badFrames[row]).toBe(0)
    expect(columns.framesThisSecond[row]).toBe(0)
    expect(columns.ownRevision[row]).toBe(0)
    expect(columns.activity[row]).toBe(ACTIVITY.unconfirmed)
    expect(columns.tokenExpiresAt[row]).toBe(Number.POSITIVE_INFINITY)
    expect(columns.awayAfterMs[row]).toBe(Number.POSITIVE_INFINITY)
    expect(columns.connectedAt[row]).toBe(NOW + 1)
    expect(table.firstOfUser(3)).toBe(NIL)
  })

  test('every platform comes back as it went in', () => {
    const table = createSessionTable(
      () => 'g-1',
      () => 0,
    )
    const rows = PLATFORMS.map((platform) => table.add(0, { ...opening, platform }, null, NOW))
    expect(rows.map((row) => table.platformOf(row))).toEqual([...PLATFORMS])
  })

  test('the frames of a second are counted as far as the setting for them goes', () => {
    const table = createSessionTable(
      () => 'g-1',
      () => 0,
    )
    const row = table.add(0, opening, null, NOW)
    table.columns.framesThisSecond[row] = 65_535
    table.columns.framesThisSecond[row]!++
    expect(table.columns.framesThisSecond[row]).toBe(65_536)
  })

  test('[P2] the stamps of a session strictly increase, even when the clock stands still or goes back', () => {
    const table = createSessionTable(
      () => 'g-1',
      () => 0,
    )
    const row = table.add(0, opening, null, NOW)
    const stamps = [NOW, NOW, NOW - 1_000, NOW + 10, NOW + 10, NOW].map((now) => table.stamp(row, now))
    expect(stamps).toEqual([NOW + 1, NOW + 2, NOW + 3, NOW + 10, NOW + 11, NOW + 12])
  })

  test('any sequence of opening and ending agrees with plain lists', () => {
    const step = fc.record({ user: fc.nat(4), ends: fc.option(fc.nat(), { nil: null }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const table = createSessionTable(
          () => 'g-1',
          () => 0,
        )
        const rows = new Map<number, { user: number; id: string; device: string }>()
        const idsSeen = new Set<string>()
        let widest = 0
        for (const [at, { user, ends }] of steps.entries()) {
          if (ends === null || rows.size === 0) {
            const device = `d${at}`
            const row = table.add(user, { ...opening, deviceId: device }, null, NOW + at)
            expect(rows.has(row)).toBe(false)
            const id = table.sessionId(row)
            expect(idsSeen.has(id)).toBe(false)
            idsSeen.add(id)
            rows.set(row, { user, id, device })
          } else {
            const row = [...rows.keys()][ends % rows.size]!
            table.remove(row)
            rows.delete(row)
          }
          widest = Math.max(widest, rows.size)
          expect(table.columns.live).toBe(rows.size)
          for (const [row, { user: of, id, device }] of rows) {
            expect(table.isLive(row)).toBe(true)
            expect(table.columns.user[row]).toBe(of)
            expect(table.sessionId(row)).toBe(id)
            expect(table.columns.deviceIds[row]).toBe(device)
          }
          for (let of = 0; of <= 4; of++) {
            const walked: number[] = []
            for (let row = table.firstOfUser(of); row !== NIL; row = table.columns.nextOfUser[row]!)
              walked.push(row)
            const expected = [...rows].filter(([, held]) => held.user === of).map(([row]) => row)
            expect(walked.sort()).toEqual(expected.sort())
          }
        }
        // Rows are used again: with all in one lot, a block of 64 of its own after the other, each with nine more.
        expect(table.columns.sockets.length).toBe(Math.ceil(widest / 64) * 640)
      }),
    )
  })
})
