// The archive contract, second part: contact lists.
import { describe, expect, test } from 'bun:test'
import type { Archive } from '../../../packages/server/src/archive/port.ts'
import { systemClock } from '../../../packages/server/src/platform/clock.ts'
import { SOME_INSTANT as T } from '../../worlds/records.ts'
import { ODD_IDS } from './rows.ts'

/** Long enough for many statements, so that a reader could see a replacement half done. */
const LIST_SIZE = 4_000

const numbered = (prefix: string) =>
  Array.from({ length: LIST_SIZE }, (_, index) => `${prefix}${String(index).padStart(6, '0')}`)

export function checkArchiveContacts(archive: () => Archive): void {
  describe('contacts', () => {
    test('[W2] a list belongs to its owner, has no repeats and is ordered by id', async () => {
      await archive().addContacts('owner', ['b', 'zoë', 'B', 'a', 'b', "o'neil"], T)
      await archive().addContacts('owner', ['c', 'a'], T + 1)
      await archive().addContacts('other', ['x'], T)
      expect(await archive().contactsOf('owner')).toEqual(['B', 'a', 'b', 'c', "o'neil", 'zoë'])
      expect(await archive().contactsOf('other')).toEqual(['x'])
      expect(await archive().contactsOf('unknown')).toEqual([])
    })

    test('[W2] removing affects present contacts of this owner only', async () => {
      await archive().addContacts('owner', ['a', 'b', 'c'], T)
      await archive().addContacts('other', ['a', 'b'], T)
      await archive().removeContacts('owner', ['a', 'c', 'unknown', 'a'])
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

    test.each([
      ['its ids', () => archive().contactsOf('owner')],
      ['its text', async () => JSON.parse(await archive().contactsJson('owner')) as string[]],
    ])('[W2] reading %s while a list is replaced gives the old list or the new one', async (_, read) => {
      const [before, after] = [numbered('a'), numbered('b')]
      await archive().addContacts('owner', before, T)
      let replaced = false
      const replacing = Promise.all(
        [after, before, after].map((ids) => archive().replaceContacts('owner', ids, T)),
      ).finally(() => {
        replaced = true
      })
      const seen = new Set<string>()
      const keepReading = async () => {
        while (!replaced) {
          seen.add((await read()).join())
          await systemClock.nextTurn()
        }
      }
      // Several readers, so that some are reading when a replacement begins or ends.
      await Promise.all([replacing, keepReading(), keepReading(), keepReading()])
      seen.add((await read()).join())
      expect(seen.isSubsetOf(new Set([before.join(), after.join()]))).toBe(true)
    })

    test('[W2] a limit returns the first contacts by id', async () => {
      const ids = numbered('a')
      await archive().addContacts('owner', ids.toReversed(), T)
      for (const limit of [0, 1, 501, LIST_SIZE / 2, LIST_SIZE / 2 + 1, LIST_SIZE, LIST_SIZE + 1]) {
        expect(await archive().contactsOf('owner', limit)).toEqual(ids.slice(0, limit))
      }
    })

    test('[W2] the text of a list is JSON for any ids and any length', async () => {
      const ids = [...ODD_IDS, ...numbered('a')]
      await archive().addContacts('owner', ids, T)
      expect(await archive().contactsJson('unknown')).toBe('[]')
      const text = await archive().contactsJson('owner')
      expect(JSON.parse(text)).toEqual(await archive().contactsOf('owner'))
      expect(new Set(JSON.parse(text))).toEqual(new Set(ids))
      // The last page may be exactly full.
      await archive().replaceContacts('owner', numbered('a'), T)
      expect(JSON.parse(await archive().contactsJson('owner'))).toEqual(numbered('a'))
    })

    test('[S5] pairs are answered in the order asked, each in its own direction', async () => {
      await archive().addContacts('alice', ['bob', ...ODD_IDS], T)
      await archive().addContacts('bob', ['carol'], T)
      const ask = (...pairs: [string, string][]) =>
        archive().areContacts(pairs.map(([ownerId, contactId]) => ({ ownerId, contactId })))
      expect(await ask()).toEqual([])
      expect(
        await ask(['bob', 'alice'], ['alice', 'bob'], ['x', 'y'], ['alice', 'bob'], ['bob', 'carol']),
      ).toEqual([false, true, false, true, true])
      expect(await ask(...ODD_IDS.map((id): [string, string] => ['alice', id]))).toEqual(
        ODD_IDS.map(() => true),
      )
      const many = numbered('a')
      await archive().addContacts(
        'owner',
        many.filter((_, at) => at % 3 === 0),
        T,
      )
      expect(await ask(...many.map((id): [string, string] => ['owner', id]))).toEqual(
        many.map((_, at) => at % 3 === 0),
      )
    })

    test('[W2] the owners who list a user are found page by page', async () => {
      for (const owner of ['c', 'a', 'zoë', 'b']) await archive().addContacts(owner, ['x', 'y'], T)
      await archive().addContacts('x', ['a'], T)
      expect(await archive().ownersOf('x', '', 3)).toEqual(['a', 'b', 'c'])
      expect(await archive().ownersOf('x', 'c', 3)).toEqual(['zoë'])
      expect(await archive().ownersOf('x', 'zoë', 3)).toEqual([])
      await archive().removeContacts('b', ['x'])
      expect(await archive().ownersOf('x', '', 10)).toEqual(['a', 'c', 'zoë'])
      expect(await archive().ownersOf('unknown', '', 10)).toEqual([])
    })

    test('[W2] concurrent edits of one list wait for each other, in any order of ids', async () => {
      const [one, two] = [numbered('a'), numbered('b')]
      await archive().addContacts('owner', one, T)
      await Promise.all([
        archive().replaceContacts('owner', ['z', ...two], T),
        archive().addContacts('owner', ['z', ...two.toReversed()], T),
        archive().removeContacts('owner', one.toReversed()),
        archive().replaceContacts('owner', [...two, 'z'].toReversed(), T),
        archive().addContacts('owner', ['z'], T),
      ])
      expect(await archive().contactsOf('owner')).toEqual([...two, 'z'])
    })

    test('[W2] two concurrent replacements leave one of the two lists, and other writes proceed', async () => {
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
