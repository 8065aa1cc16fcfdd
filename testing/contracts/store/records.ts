// The store contract, first part: records are loaded as committed, and of two writers only one wins.
import { describe, expect, test } from 'bun:test'
import { aCommit, aFullRecord, aRecord, aRecordOn, SOME_INSTANT as T } from '../../worlds/records.ts'
import { committed, interestedIn, type StoreUnderTest } from './under-test.ts'

/** As many as a tracker commits at once. */
const BATCH_SIZE = 1_000

export function checkRecords({ store, put, allDue, dueIds }: StoreUnderTest): void {
  describe('records', () => {
    test('[C2] loads in the order of the ids, with null for unknown users and repeats for repeats', async () => {
      const a = await put('a', { record: aRecord({ version: 1 }) })
      const b = await put('b', { record: aRecord({ version: 2 }) })

      const loaded = await store().load(['b', 'unknown', 'a', 'b'])
      expect(loaded.map((one) => one?.record.version ?? null)).toEqual([2, null, 1, 2])
      expect(loaded.map((one) => one?.revision ?? 0)).toEqual([b.revision, 0, a.revision, b.revision])
      expect(await store().load([])).toEqual([])
    })

    test('[C2] a record is loaded exactly as committed', async () => {
      await put('a', { record: aFullRecord() })
      const [loaded] = await store().load(['a'])
      expect(loaded?.record).toEqual(aFullRecord())
    })

    test('[C2] every valid id is a distinct key', async () => {
      const ids = [
        '{s1}:u:a',
        '{}',
        'a',
        'A',
        'a:b',
        '*',
        '0',
        '__proto__',
        'zoë',
        '用户',
        '👩🏽‍🚀',
        'x'.repeat(128),
      ]
      await store().commit(
        ids.map((id, index) => aCommit(id, { record: aRecord({ version: index + 1 }), dueAt: T })),
      )
      const loaded = await store().load(ids)
      expect(loaded.map((one) => one?.record.version)).toEqual(ids.map((_, index) => index + 1))
      expect(await dueIds(T)).toEqual([...ids].sort())
    })

    test('[C2] has a monotonic clock, or null', async () => {
      const first = await store().time()
      const second = await store().time()
      if (first === null) return expect(second).toBeNull()
      expect(Number.isSafeInteger(first)).toBe(true)
      expect(second!).toBeGreaterThanOrEqual(first)
    })
  })

  describe('compare-and-set', () => {
    test('[C2] revision zero creates only what is absent', async () => {
      await put('a', { record: aRecord({ version: 1 }) })
      const [again] = await store().commit([aCommit('a', { record: aRecord({ version: 9 }) })])
      expect(again).toEqual({ outcome: 'conflict' })
      const [absent] = await store().commit([aCommit('b', { expectedRevision: 7 })])
      expect(absent).toEqual({ outcome: 'conflict' })

      const [a, b] = await store().load(['a', 'b'])
      expect(a?.record.version).toBe(1)
      expect(b).toBeNull()
    })

    test('[C2] the revision of the last commit is the only one that is accepted, and it grows', async () => {
      const first = await put('a')
      const second = await put('a', { expectedRevision: first.revision })
      expect(second.revision).toBeGreaterThan(first.revision)

      const [stale] = await store().commit([aCommit('a', { expectedRevision: first.revision })])
      expect(stale).toEqual({ outcome: 'conflict' })
      expect((await store().load(['a']))[0]?.revision).toBe(second.revision)
    })

    test('[C2] a batch answers in its order, and one conflict does not affect the others', async () => {
      await put('b')
      const results = await store().commit(['a', 'b', 'c'].map((id) => aCommit(id)))
      expect(results.map((result) => result.outcome)).toEqual(['committed', 'conflict', 'committed'])
      expect(await store().commit([])).toEqual([])
    })

    test('[C2] a refused commit leaves deadlines, counts and attachments as they were', async () => {
      const held = await put('a', { record: aRecordOn('g1'), dueAt: T + 5 })
      const [refused] = await store().commit([
        aCommit('a', {
          expectedRevision: held.revision + 1,
          record: aRecordOn('g2'),
          dueAt: T,
          retainUntil: T,
        }),
      ])
      expect(refused).toEqual({ outcome: 'conflict' })
      expect(await allDue(T + 5)).toEqual([{ userId: 'a', dueAt: T + 5 }])
      expect(await store().usersOf('g1')).toEqual(['a'])
      expect(await store().usersOf('g2')).toEqual([])
      expect(await store().forget(T + 10, 10)).toBe(0)
      expect(await store().countByStatus()).toEqual({ online: 1, away: 0, busy: 0, offline: 0 })
    })

    test('[C2] of many concurrent writers with one revision, exactly one wins each round', async () => {
      let revision = 0
      for (let round = 0; round < 5; round++) {
        const writers = Array.from({ length: 20 }, (_, writer) =>
          store().commit([
            aCommit('a', { expectedRevision: revision, record: aRecord({ version: writer }) }),
          ]),
        )
        const results = (await Promise.all(writers)).flat()
        const winners = results.flatMap((result, writer) => (result.outcome === 'committed' ? [writer] : []))
        expect(winners).toHaveLength(1)
        const [loaded] = await store().load(['a'])
        expect(loaded?.record.version).toBe(winners[0]!)
        revision = committed(results[winners[0]!]).revision
        expect(loaded?.revision).toBe(revision)
      }
    })

    test('[C2] a revision from before a user was forgotten is never accepted again', async () => {
      const before = await put('a', { retainUntil: T })
      await store().forget(T + 1, 10)
      const after = await put('a')
      expect(after.revision).toBeGreaterThan(before.revision)
      const [stale] = await store().commit([aCommit('a', { expectedRevision: before.revision })])
      expect(stale).toEqual({ outcome: 'conflict' })
    })
  })

  test('[C2] counts users by shown status, through every change', async () => {
    const show = (status: 'online' | 'away' | 'busy' | 'offline') => aRecord({ shown: { status } })
    await store().commit([aCommit('a', { record: show('online') }), aCommit('b', { record: show('online') })])
    const c = await put('c', { record: show('away') })
    await put('d', { record: show('offline'), retainUntil: T })
    expect(await store().countByStatus()).toEqual({ online: 2, away: 1, busy: 0, offline: 1 })

    await put('c', { expectedRevision: c.revision, record: show('busy') })
    await store().forget(T + 1, 10)
    expect(await store().countByStatus()).toEqual({ online: 2, away: 0, busy: 1, offline: 0 })
  })

  test(`[C2] a batch of ${BATCH_SIZE} users is committed, watched, loaded and found due`, async () => {
    const ids = Array.from({ length: BATCH_SIZE }, (_, index) => `user-${index}`)
    await store().addInterest('watcher', ids)
    const results = await store().commit(ids.map((id) => aCommit(id, { record: aRecordOn('g1'), dueAt: T })))
    expect(results.every((result) => result.outcome === 'committed')).toBe(true)
    expect(results.every((result) => interestedIn(result).join() === 'watcher')).toBe(true)

    const revisions = results.map((result) => committed(result).revision)
    expect((await store().load(ids)).map((one) => one?.revision)).toEqual(revisions)
    expect(new Set(await store().usersOf('g1'))).toEqual(new Set(ids))
    expect(new Set(await dueIds(T))).toEqual(new Set(ids))
    expect((await store().countByStatus()).online).toBe(BATCH_SIZE)

    await store().removeInterest('watcher', ids)
    const gone = ids.map((id, index) =>
      aCommit(id, { expectedRevision: revisions[index]!, record: aRecord(), retainUntil: T }),
    )
    expect((await store().commit(gone)).flatMap(interestedIn)).toEqual([])
    expect(await allDue(T)).toEqual([])
    expect(await store().usersOf('g1')).toEqual([])
    expect(await store().forget(T + 1, BATCH_SIZE)).toBe(BATCH_SIZE)
  })
}
