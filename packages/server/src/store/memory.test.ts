import { describe, expect, test } from 'bun:test'
import { storeContract } from '../../../../testing/contracts/store.ts'
import { aCommit, aRecord, aRecordOn, SOME_INSTANT as T } from '../../../../testing/worlds/records.ts'
import { createMemoryStore } from './memory.ts'

storeContract('memory', async () => createMemoryStore())

describe('memory store', () => {
  test('[C2] has no clock of its own: one process agrees with itself', async () => {
    expect(await createMemoryStore().time()).toBeNull()
  })

  test('[C2] hands out the committed record itself, not a copy', async () => {
    const store = createMemoryStore()
    const record = aRecordOn('g1')
    await store.commit([aCommit('a', { record })])
    expect((await store.load(['a']))[0]?.record).toBe(record)
  })

  test('[C2] what was loaded does not change under the reader', async () => {
    const store = createMemoryStore()
    await store.commit([aCommit('a', { record: aRecord({ version: 1 }) })])
    const [before] = await store.load(['a'])
    const revision = before!.revision
    await store.commit([aCommit('a', { expectedRevision: revision, record: aRecord({ version: 2 }) })])
    expect(before!.record.version).toBe(1)
    expect(before!.revision).toBe(revision)
  })

  test('[R2] over the limit, the record that would be forgotten first goes at once', async () => {
    const store = createMemoryStore({ retainedMax: 2 })
    await store.commit([
      aCommit('second', { retainUntil: T + 2, dueAt: T }),
      aCommit('third', { retainUntil: T + 3 }),
      aCommit('kept', { record: aRecordOn('g1') }),
      aCommit('fourth', { retainUntil: T + 4 }),
    ])
    const ids = ['second', 'third', 'kept', 'fourth']
    expect((await store.load(ids)).map((one) => one !== null)).toEqual([false, true, true, true])
    expect(await store.due(0, T, 10)).toEqual([])
    expect(await store.countByStatus()).toEqual({ online: 1, away: 0, busy: 0, offline: 2 })

    const [result] = await store.commit([aCommit('first', { retainUntil: T + 1 })])
    expect(result?.outcome).toBe('committed')
    expect(await store.load(['first'])).toEqual([null])
    expect(await store.countByStatus()).toEqual({ online: 1, away: 0, busy: 0, offline: 2 })
  })

  test('[R2] users who are kept do not count towards the limit, and returning makes room', async () => {
    const store = createMemoryStore({ retainedMax: 1 })
    const [first] = await store.commit([aCommit('a', { retainUntil: T + 1 })])
    const revision = first?.outcome === 'committed' ? first.revision : -1
    await store.commit([aCommit('a', { expectedRevision: revision, retainUntil: null })])
    await store.commit([aCommit('b', { retainUntil: T + 2 }), aCommit('c')])
    expect((await store.load(['a', 'b', 'c'])).every((one) => one !== null)).toBe(true)
  })

  test('[D3] refuses a shard it does not have', async () => {
    const store = createMemoryStore()
    await expect(store.due(1, T, 10)).rejects.toThrow(RangeError)
  })
})
