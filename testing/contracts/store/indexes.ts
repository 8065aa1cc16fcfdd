// The store contract, second part: the indexes that commits maintain: interest, deadlines and retention.
import { describe, expect, test } from 'bun:test'
import { aCommit, aRecord, aRecordOn, SOME_INSTANT as T } from '../../worlds/records.ts'
import { committed, interestedIn, type StoreUnderTest } from './under-test.ts'

export function checkIndexes({ store, put, allDue, dueIds }: StoreUnderTest): void {
  describe('interest', () => {
    test('[W4] a commit names exactly the gateways that have a watcher', async () => {
      await store().addInterest('g1', ['a', 'b'])
      await store().addInterest('g2', ['b'])
      const results = await store().commit(['a', 'b', 'c'].map((id) => aCommit(id)))
      expect(results.map(interestedIn)).toEqual([['g1'], ['g1', 'g2'], []])
    })

    test('[W3] interest may precede the user and survives that the user is forgotten', async () => {
      await store().addInterest('g1', ['a'])
      expect((await store().load(['a']))[0]).toBeNull()
      expect((await put('a', { retainUntil: T })).interested).toEqual(['g1'])
      expect(await store().forget(T + 1, 10)).toBe(1)
      expect((await put('a')).interested).toEqual(['g1'])
    })

    test('[W3] adding and removing twice equals once, in one batch or in two', async () => {
      await store().addInterest('g1', ['a', 'a'])
      await store().addInterest('g1', ['a'])
      await store().addInterest('g1', [])
      const first = await put('a')
      expect(first.interested).toEqual(['g1'])

      await store().removeInterest('g1', ['a', 'a', 'stranger'])
      await store().removeInterest('g1', ['a'])
      await store().removeInterest('g2', ['a'])
      await store().removeInterest('g1', [])
      expect((await put('a', { expectedRevision: first.revision })).interested).toEqual([])
    })

    test('[W3] removing the interest of one gateway does not affect the others', async () => {
      for (const gateway of ['g1', 'g2', 'g3']) await store().addInterest(gateway, ['a'])
      await store().removeInterest('g2', ['a'])
      const first = await put('a')
      expect([...first.interested].sort()).toEqual(['g1', 'g3'])
      await store().removeInterest('g1', ['a'])
      const second = await put('a', { expectedRevision: first.revision })
      expect(second.interested).toEqual(['g3'])
      // The result of an earlier commit does not change.
      expect([...first.interested].sort()).toEqual(['g1', 'g3'])
    })

    test('[W1] a gateway that adds interest first and reads after misses no commit', async () => {
      let revision = 0
      for (let round = 0; round < 20; round++) {
        const gateway = `g${round}`
        const [result, seen] = await Promise.all([
          store().commit([
            aCommit('a', { expectedRevision: revision, record: aRecord({ version: round + 1 }) }),
          ]),
          store()
            .addInterest(gateway, ['a'])
            .then(() => store().load(['a'])),
        ])
        const told = committed(result[0]).interested.includes(gateway)
        const read = seen[0]?.record.version === round + 1
        expect(told || read).toBe(true)
        revision = committed(result[0]).revision
      }
    })
  })

  describe('deadlines', () => {
    test('[D3] lists deadlines at or before now, again and again until a commit moves them', async () => {
      await store().commit([
        aCommit('past', { dueAt: T - 1 }),
        aCommit('now', { dueAt: T }),
        aCommit('never'),
      ])
      const later = await put('later', { dueAt: T + 1 })

      expect(await dueIds(T)).toEqual(['now', 'past'])
      expect(await dueIds(T)).toEqual(['now', 'past'])
      await put('later', { expectedRevision: later.revision, dueAt: T - 5 })
      expect(await dueIds(T)).toEqual(['later', 'now', 'past'])
    })

    test('[D3] a commit without a deadline clears the one before, and a later one moves it', async () => {
      const a = await put('a', { dueAt: T })
      const b = await put('b', { dueAt: T })
      await put('a', { expectedRevision: a.revision, dueAt: null })
      await put('b', { expectedRevision: b.revision, dueAt: T + 100 })
      expect(await allDue(T)).toEqual([])
      expect(await allDue(T + 100)).toEqual([{ userId: 'b', dueAt: T + 100 }])
    })

    test('[D3] each shard lists earliest first and a limit keeps the earliest', async () => {
      const users = Array.from({ length: 200 }, (_, index) => `u${index}`)
      await store().commit(users.map((id, index) => aCommit(id, { dueAt: T + ((index * 37) % 200) })))
      for (let shard = 0; shard < store().shardCount; shard++) {
        const all = await store().due(shard, T + 200, 1_000)
        const instants = all.map((due) => due.dueAt)
        expect(instants).toEqual([...instants].sort((x, y) => x - y))
        expect(await store().due(shard, T + 200, 3)).toEqual(all.slice(0, 3))
        expect(await store().due(shard, T + 200, 0)).toEqual([])
      }
      expect(await dueIds(T + 200)).toEqual([...users].sort())
    })
  })

  describe('retention', () => {
    test('[R2] a record is forgotten after its instant, not at it, and only with one', async () => {
      await store().commit([aCommit('kept'), aCommit('gone', { retainUntil: T })])
      expect(await store().forget(T, 10)).toBe(0)
      expect((await store().load(['gone']))[0]).not.toBeNull()
      expect(await store().forget(T + 1, 10)).toBe(1)
      const [kept, gone] = await store().load(['kept', 'gone'])
      expect(kept).not.toBeNull()
      expect(gone).toBeNull()
      expect(await store().forget(T + 1, 10)).toBe(0)
    })

    test('[R2] a commit without an instant keeps the record after all', async () => {
      const a = await put('a', { retainUntil: T })
      await put('a', { expectedRevision: a.revision, retainUntil: null })
      expect(await store().forget(T + 1_000, 10)).toBe(0)
      expect((await store().load(['a']))[0]).not.toBeNull()
    })

    test('[R2] forgetting respects its limit and finishes after several calls', async () => {
      await store().commit(
        Array.from({ length: 25 }, (_, index) => aCommit(`u${index}`, { retainUntil: T + index })),
      )
      let total = 0
      for (let call = 0; call < 25 && total < 25; call++) {
        const count = await store().forget(T + 100, 10)
        expect(count).toBeGreaterThan(0)
        expect(count).toBeLessThanOrEqual(10)
        total += count
      }
      expect(total).toBe(25)
      expect(await store().countByStatus()).toEqual({ online: 0, away: 0, busy: 0, offline: 0 })
    })

    test('[R2] a forgotten user leaves no deadline, count or gateway entry behind', async () => {
      await put('a', { record: aRecordOn('g1'), dueAt: T + 5, retainUntil: T })
      expect(await store().forget(T + 1, 10)).toBe(1)
      expect(await allDue(T + 5)).toEqual([])
      expect(await store().usersOf('g1')).toEqual([])
      expect(await store().countByStatus()).toEqual({ online: 0, away: 0, busy: 0, offline: 0 })
    })
  })
}
