// The archive contract, second part: contact lists.
import { describe, expect, test } from 'bun:test'
import type { Archive } from '../../packages/server/src/archive/port.ts'
import { SOME_INSTANT as T } from '../records.ts'

/** Many statements, so that a list that is being replaced has time to be seen half done. */
const LIST_SIZE = 4_000

const numbered = (prefix: string) =>
  Array.from({ length: LIST_SIZE }, (_, index) => `${prefix}${String(index).padStart(6, '0')}`)

export function checkArchiveContacts(archive: () => Archive): void {
  describe('contacts', () => {
    test('[W2] a list is kept per owner, without repeats, in the order of the ids', async () => {
      await archive().addContacts('owner', ['b', 'zoë', 'B', 'a', 'b', "o'neil"], T)
      await archive().addContacts('owner', ['c', 'a'], T + 1)
      await archive().addContacts('other', ['x'], T)
      expect(await archive().contactsOf('owner')).toEqual(['B', 'a', 'b', 'c', "o'neil", 'zoë'])
      expect(await archive().contactsOf('other')).toEqual(['x'])
      expect(await archive().contactsOf('nobody')).toEqual([])
    })

    test('[W2] removing takes those who are there, from this owner only', async () => {
      await archive().addContacts('owner', ['a', 'b', 'c'], T)
      await archive().addContacts('other', ['a', 'b'], T)
      await archive().removeContacts('owner', ['a', 'c', 'nobody', 'a'])
      expect(await archive().contactsOf('owner')).toEqual(['b'])
      expect(await archive().contactsOf('other')).toEqual(['a', 'b'])
    })

    test('[W2] replacing leaves exactly the new list', async () => {
      await archive().addContacts('owner', ['a', 'b', 'c'], T)
      await archive().addContacts('other', ['a'], T)
      await archive().replaceContacts('owner', ['d', 'b', 'd'], T + 1)
      expect(await archive().contactsOf('owner')).toEqual(['b', 'd'])
      await archive().replaceContacts('owner', [], T + 2)
      expect(await archive().contactsOf('owner')).toEqual([])
      expect(await archive().contactsOf('other')).toEqual(['a'])
    })

    test('[W2] lists of any length are added, replaced and removed', async () => {
      const [before, after] = [numbered('a'), numbered('b')]
      await archive().addContacts('owner', before.toReversed(), T)
      expect(await archive().contactsOf('owner')).toEqual(before)
      await archive().replaceContacts('owner', after.toReversed(), T)
      expect(await archive().contactsOf('owner')).toEqual(after)
      await archive().removeContacts('owner', [...before, ...after.slice(1)])
      expect(await archive().contactsOf('owner')).toEqual(after.slice(0, 1))
    })

    test('[W2] whoever reads while a list is replaced sees the old one or the new one', async () => {
      const [before, after] = [numbered('a'), numbered('b')]
      await archive().addContacts('owner', before, T)
      let replaced = false
      const replacing = archive()
        .replaceContacts('owner', after, T)
        .finally(() => {
          replaced = true
        })
      const seen = new Set<string>()
      while (!replaced) {
        seen.add((await archive().contactsOf('owner')).join())
        await new Promise((resolve) => setImmediate(resolve))
      }
      await replacing
      seen.add((await archive().contactsOf('owner')).join())
      expect(seen.isSubsetOf(new Set([before.join(), after.join()]))).toBe(true)
      expect(seen.has(after.join())).toBe(true)
    })

    test('[W2] two replacements at once leave one of the two lists, and other writes go on', async () => {
      const [one, two] = [numbered('a'), numbered('b')]
      await Promise.all([
        archive().replaceContacts('owner', one, T),
        archive().replaceContacts('owner', two, T),
        archive().markAlive(T),
        archive().addContacts('other', ['x'], T),
      ])
      const left = (await archive().contactsOf('owner')).join()
      expect([one.join(), two.join()]).toContain(left)
      expect(await archive().aliveAt()).toBe(T)
      expect(await archive().contactsOf('other')).toEqual(['x'])
    })
  })
}
