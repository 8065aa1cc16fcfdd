// The contract of Archive, run on every adapter and written against the port alone. Examples define each call;
// one property connects them: the order and the number of writes never matter.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Archive } from '../../packages/server/src/archive/port.ts'
import { checkArchiveContacts } from './archive/contacts.ts'
import { checkArchiveDisconnects } from './archive/disconnects.ts'
import { checkArchiveErasure } from './archive/erasure.ts'
import { checkArchiveHistory } from './archive/history.ts'
import { checkArchiveOrder } from './archive/order.ts'
import { checkArchivePrivacy } from './archive/privacy.ts'
import { checkArchiveRows } from './archive/rows.ts'
import { checkArchiveWebhooks } from './archive/webhooks.ts'

/** Makes an archive on an empty database without a schema. The suite closes it. */
export type MakeArchive = () => Promise<Archive>

const PROPERTY_RUNS = 150

/** `propertyRuns` is the number of random histories; fewer where every call is a round trip. */
export function archiveContract(
  name: string,
  makeArchive: MakeArchive,
  options: { propertyRuns?: number } = {},
): void {
  describe(`archive contract: ${name}`, () => {
    let archive: Archive
    let applied: string[]
    beforeEach(async () => {
      archive = await makeArchive()
      applied = await archive.migrate()
    })
    afterEach(() => archive.close())

    test('[S4] the schema is created once, and migrating again changes nothing', async () => {
      expect(applied.length).toBeGreaterThan(0)
      expect(applied).toEqual(applied.toSorted())
      await archive.markAlive(5)
      expect(await archive.migrate()).toEqual([])
      expect(await archive.aliveAt()).toBe(5)
    })

    test('[S4] pending migrations are those that will be applied; reading them applies nothing', async () => {
      const fresh = await makeArchive()
      expect(await fresh.pending()).toEqual(applied)
      expect(await fresh.pending()).toEqual(applied)
      expect(await fresh.migrate()).toEqual(applied)
      expect(await fresh.pending()).toEqual([])
      await fresh.close()
      expect(await archive.pending()).toEqual([])
      await expect(fresh.pending()).rejects.toThrow()
    })

    test('[C7] ping answers while the database can be reached, and throws after that', async () => {
      const other = await makeArchive()
      await other.ping()
      await other.close()
      await expect(other.ping()).rejects.toThrow()
    })

    checkArchiveRows(() => archive)
    checkArchiveContacts(() => archive)
    checkArchivePrivacy(() => archive)
    checkArchiveDisconnects(() => archive)
    checkArchiveErasure(() => archive)
    checkArchiveWebhooks(() => archive)
    checkArchiveHistory(() => archive, options.propertyRuns ?? PROPERTY_RUNS)
    checkArchiveOrder(() => archive, options.propertyRuns ?? PROPERTY_RUNS)
  })
}
