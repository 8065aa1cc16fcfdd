// Rows of sessions: a row number is used again, but a new session has nothing of the one before.
import { describe, expect, test } from 'bun:test'
import { PLATFORMS } from '@greendot/protocol'
import fc from 'fast-check'
import { NIL } from '../../platform/typed-arrays.ts'
import { createConnectionNumbers } from '../connection-numbers.ts'
import { createIdentity } from '../identity.ts'
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
  test('a row that is used again has nothing of the session before', () => {
    const table = createSessionTable(createIdentity())
    const row = 2
    table.add(row, 3, { ...opening, tokenExpiresAt: NOW + 5 }, null, NOW)
    table.columns.badFrames[row] = 9
    table.columns.framesThisSecond[row] = 50
    table.columns.ownRevision[row] = 7
    table.columns.activity[row] = ACTIVITY.idle
    table.columns.awayAfterMs[row] = 1
    const formerId = table.sessionId(row)
    table.remove(row)
    expect(table.isLive(row)).toBe(false)
    table.add(row, 4, opening, null, NOW + 1)
    expect(table.sessionId(row)).not.toBe(formerId)
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
    const table = createSessionTable(createIdentity())
    for (const [row, platform] of PLATFORMS.entries()) table.add(row, 0, { ...opening, platform }, null, NOW)
    expect(PLATFORMS.map((_, row) => table.platformOf(row))).toEqual([...PLATFORMS])
  })

  test('the frames of a second are counted past 65,535', () => {
    const table = createSessionTable(createIdentity())
    table.add(0, 0, opening, null, NOW)
    table.columns.framesThisSecond[0] = 65_535
    table.columns.framesThisSecond[0]!++
    expect(table.columns.framesThisSecond[0]).toBe(65_536)
  })

  test('[P2] the stamps of a session strictly increase, even when the clock stands still or goes back', () => {
    const table = createSessionTable(createIdentity())
    table.add(0, 0, opening, null, NOW)
    const stamps = [NOW, NOW, NOW - 1_000, NOW + 10, NOW + 10, NOW].map((now) => table.stamp(0, now))
    expect(stamps).toEqual([NOW + 1, NOW + 2, NOW + 3, NOW + 10, NOW + 11, NOW + 12])
  })

  test('[C7] a new name of the gateway renames every session, and former names are still known', () => {
    const identity = createIdentity()
    const table = createSessionTable(identity)
    table.add(0, 0, opening, null, NOW)
    const [formerName, formerId] = [identity.id(), table.sessionId(0)]
    identity.rename('g-next', NOW)
    expect(table.sessionId(0)).toStartWith('g-next-')
    expect(table.sessionId(0, formerName)).toBe(formerId)
  })

  test('any sequence of opening and ending agrees with plain lists', () => {
    const step = fc.record({ user: fc.nat(4), ends: fc.option(fc.nat(), { nil: null }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const table = createSessionTable(createIdentity())
        const numbers = createConnectionNumbers()
        const rows = new Map<number, { user: number; id: string; device: string }>()
        const idsSeen = new Set<string>()
        let widest = 0
        for (const [at, { user, ends }] of steps.entries()) {
          if (ends === null || rows.size === 0) {
            const device = `d${at}`
            const row = numbers.take()
            expect(table.isLive(row)).toBe(false)
            table.add(row, user, { ...opening, deviceId: device }, null, NOW + at)
            const id = table.sessionId(row)
            expect(idsSeen.has(id)).toBe(false)
            idsSeen.add(id)
            rows.set(row, { user, id, device })
          } else {
            const row = [...rows.keys()][ends % rows.size]!
            table.remove(row)
            numbers.giveBack(row)
            rows.delete(row)
          }
          widest = Math.max(widest, rows.size)
          expect(table.columns.live).toBe(rows.size)
          expect([...table.rows()]).toEqual([...rows.keys()].sort((a, b) => a - b))
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
        expect(table.columns.sockets.length).toBe(widest)
      }),
    )
  })
})
