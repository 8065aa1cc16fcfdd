// The store contract, fifth part: the duties that commits leave, which another process finds and does when the
// process that committed has died.
import { describe, expect, test } from 'bun:test'
import type { Duty } from '../../../packages/server/src/store/port.ts'
import { SOME_INSTANT as T } from '../../worlds/records.ts'
import type { StoreUnderTest } from './under-test.ts'

const BOTH: readonly Duty[] = ['announce', 'archive']
const OPEN_MAX = 1_000
/** A record that could not be forgotten is looked at again by then. */
const LONGER_MS = 600_000

export function checkDuties({ store, put }: StoreUnderTest): void {
  /** The present by the clock that dates duties. */
  let instants = 0
  const nowOf = async () => (await store().time()) ?? T + instants++
  const owed = async (...duties: Duty[]) => ({ owed: { duties, since: await nowOf() } })

  async function open(duty: Duty, until?: number): Promise<string[]> {
    const at = until ?? (await nowOf()) + 1
    const shards = Array.from({ length: store().shardCount }, (_, shard) =>
      store().openDuties(duty, shard, at, OPEN_MAX),
    )
    return (await Promise.all(shards)).flatMap((all) => all.map(({ userId }) => userId)).sort()
  }

  describe('duties', () => {
    test('[S4] a commit leaves exactly the duties it names, until they are cleared', async () => {
      const a = await put('a', await owed(...BOTH))
      await put('b', await owed('archive'))
      await put('c')
      expect([await open('announce'), await open('archive')]).toEqual([['a'], ['a', 'b']])
      await store().clearDuties('announce', [{ userId: 'a', revision: a.revision }])
      expect([await open('announce'), await open('archive')]).toEqual([[], ['a', 'b']])
      await store().clearDuties('archive', [{ userId: 'a', revision: a.revision }])
      expect(await open('archive')).toEqual(['b'])
    })

    test('[S4] clearing a duty leaves that of a later commit open', async () => {
      const first = await put('a', await owed(...BOTH))
      const second = await put('a', { ...(await owed('announce')), expectedRevision: first.revision })
      const done = [{ userId: 'a', revision: first.revision }]
      for (const duty of BOTH) await store().clearDuties(duty, done)
      expect([await open('announce'), await open('archive')]).toEqual([['a'], []])
      await store().clearDuties('announce', [{ userId: 'a', revision: second.revision }])
      expect(await open('announce')).toEqual([])
    })

    test('[W8] a commit that takes over the duty to announce an earlier one says so', async () => {
      const first = await put('a', await owed('announce'))
      const second = await put('a', { ...(await owed('announce')), expectedRevision: first.revision })
      const third = await put('a', { ...(await owed('archive')), expectedRevision: second.revision })
      await store().clearDuties('announce', [{ userId: 'a', revision: second.revision }])
      const fourth = await put('a', { ...(await owed('announce')), expectedRevision: third.revision })
      const taken = [first, second, third, fourth].map(({ unannounced }) => unannounced)
      expect(taken).toEqual([undefined, first.revision, undefined, undefined])
    })

    test('[S4] a later commit without duties leaves earlier ones open', async () => {
      const first = await put('a', await owed('archive'))
      await put('a', { expectedRevision: first.revision })
      expect(await open('archive')).toEqual(['a'])
      await store().clearDuties('archive', [{ userId: 'a', revision: first.revision }])
      expect(await open('archive')).toEqual([])
    })

    test('[C7] only duties as old as asked for are listed, oldest first and up to the limit', async () => {
      const before = (await nowOf()) - 10_000
      const users = Array.from({ length: 30 }, (_, index) => `u${index}`)
      for (const userId of users) await put(userId, await owed('archive'))
      expect(await open('archive', before)).toEqual([])
      expect(await open('archive')).toEqual([...users].sort())
      for (let shard = 0; shard < store().shardCount; shard++) {
        const all = await store().openDuties('archive', shard, (await nowOf()) + 1, OPEN_MAX)
        const revisions = all.map(({ revision }) => revision)
        expect(revisions).toEqual([...revisions].sort((x, y) => x - y))
        const some = await store().openDuties('archive', shard, (await nowOf()) + 1, 2)
        expect(some).toEqual(all.slice(0, 2))
      }
    })

    test('[C2] a conflict leaves no duty', async () => {
      await put('a')
      const lost = {
        userId: 'a',
        expectedRevision: 0,
        dueAt: null,
        retainUntil: null,
        ...(await owed('archive')),
      }
      const { record } = (await store().load(['a']))[0]!
      expect(await store().commit([{ ...lost, record }])).toEqual([{ outcome: 'conflict' }])
      expect(await open('archive')).toEqual([])
    })

    test('[S4] a record whose row is not written is not forgotten', async () => {
      const { revision } = await put('a', { ...(await owed('archive')), retainUntil: T })
      expect(await store().forget(T + 1, 10)).toBe(0)
      expect((await store().load(['a']))[0]).not.toBeNull()
      expect(await open('archive')).toEqual(['a'])
      await store().clearDuties('archive', [{ userId: 'a', revision }])
      expect(await store().forget(T + LONGER_MS, 10)).toBe(1)
      expect((await store().load(['a']))[0]).toBeNull()
    })

    test('[C2] a forgotten user has no duties, and unknown ones are cleared without effect', async () => {
      await put('a', { ...(await owed('announce')), retainUntil: T })
      await store().forget(T + 1, 10)
      expect([await open('announce'), await open('archive')]).toEqual([[], []])
      await store().clearDuties('announce', [{ userId: 'stranger', revision: 7 }])
      await store().clearDuties('announce', [])
    })
  })
}
