// The archive contract, seventh part: users that the app disconnected. Of two disconnects of the same, the later
// instants win, in whatever order they are written. One without `until` refuses no token.
import { describe, expect, test } from 'bun:test'
import type { Archive, DisconnectRow, KeptDisconnect } from '../../../packages/server/src/archive/port.ts'

const row = (userId: string, rest: Partial<DisconnectRow> = {}): KeptDisconnect => {
  const written = { userId, deviceId: null, at: 100, until: null, reason: null, ...rest }
  return { ...written, issuedBefore: written.until === null ? null : written.at }
}

export function checkArchiveDisconnects(archive: () => Archive): void {
  const write = async (...rows: DisconnectRow[]) => {
    for (const one of rows) await archive().disconnects.write(one)
  }
  const listed = (since: number, inForceAt: number | null, after: DisconnectRow | null = null, limit = 100) =>
    archive().disconnects.page({ since, inForceAt, after, limit })

  describe('disconnects', () => {
    test('[C6] those of one user are kept by device, with all that was said', async () => {
      const all = row('ada', { until: 900, reason: 'signed out "everywhere" 📵' })
      const phone = row('ada', { deviceId: 'phone', at: 200 })
      await write(phone, all, row('bob'))
      expect(await archive().disconnects.of('ada')).toEqual([all, phone])
      expect(await archive().disconnects.of('nobody-else')).toEqual([])
    })

    test('[C6] a page has those in force and those that are new, in order, and the next page the rest', async () => {
      const [old, inForce, fresh] = [row('a'), row('b', { until: 900 }), row('c', { at: 500 })]
      await write(fresh, old, inForce)
      expect(await listed(500, 899)).toEqual([inForce, fresh])
      expect(await listed(500, 899, null, 1)).toEqual([inForce])
      expect(await listed(500, 899, inForce, 1)).toEqual([fresh])
      expect(await listed(501, 900)).toEqual([])
      expect(await listed(500, null)).toEqual([fresh])
    })

    test('[C6] a later one never lifts what an earlier one refuses, in either order', async () => {
      const long = row('ada', { at: 100, until: 900, reason: 'long' })
      const short = row('ada', { at: 200, until: 300, reason: 'short' })
      const merged = [row('ada', { at: 200, until: 900, reason: 'short' })]
      await write(long, short, long)
      expect(await archive().disconnects.of('ada')).toEqual(merged)
      await archive().eraseRows('ada')
      await write(short, long)
      expect(await archive().disconnects.of('ada')).toEqual(merged)
    })

    test('[C6] one without until refuses no token that the others do not, in any order', async () => {
      const first = row('ada', { at: 100, until: 900, reason: 'first' })
      const later = row('ada', { at: 200, reason: 'later' })
      const merged = [{ ...later, until: 900, issuedBefore: 100 }]
      await write(first, later, first)
      expect(await archive().disconnects.of('ada')).toEqual(merged)
      await archive().eraseRows('ada')
      await write(later, first)
      expect(await archive().disconnects.of('ada')).toEqual(merged)
    })

    test('[C6] trimming leaves those in force and the new ones', async () => {
      const [inForce, fresh] = [row('b', { until: 900 }), row('c', { at: 500 })]
      await write(row('a'), inForce, fresh, row('d', { until: 899 }))
      await archive().disconnects.trim(500, 899)
      expect(await listed(0, 0)).toEqual([inForce, fresh])
    })

    test('[X6] an erasure deletes them', async () => {
      await write(row('ada', { until: 900 }), row('ada', { deviceId: 'phone' }), row('bob'))
      await archive().erase('ada')
      expect(await listed(0, 0)).toEqual([row('bob')])
    })
  })
}
