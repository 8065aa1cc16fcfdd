// The store under test, and the calls that most tests of the contract make.
import { afterEach, beforeEach } from 'bun:test'
import type { Commit, CommitResult, Due, PresenceStore } from '../../../packages/server/src/store/port.ts'
import { aCommit } from '../../worlds/records.ts'

/** Makes an empty store. The caller closes it. */
export type MakeStore = () => Promise<PresenceStore>

type Committed = Extract<CommitResult, { outcome: 'committed' }>

export interface StoreUnderTest {
  /** A new and empty store for each test. */
  store(): PresenceStore
  put(userId: string, fields?: Partial<Commit>): Promise<Committed>
  /** From all shards; sorted within each shard, not between shards. */
  allDue(now: number): Promise<Due[]>
  dueIds(now: number): Promise<string[]>
}

const DUE_MAX = 20_000

export function useStore(makeStore: MakeStore): StoreUnderTest {
  let store: PresenceStore
  beforeEach(async () => {
    store = await makeStore()
  })
  afterEach(() => store.close())

  async function allDue(now: number): Promise<Due[]> {
    const shards = Array.from({ length: store.shardCount }, (_, shard) => store.due(shard, now, DUE_MAX))
    return (await Promise.all(shards)).flat()
  }

  return {
    store: () => store,
    put: async (userId, fields) => committed((await store.commit([aCommit(userId, fields)]))[0]),
    allDue,
    dueIds: async (now) => (await allDue(now)).map((due) => due.userId).sort(),
  }
}

export function committed(result: CommitResult | undefined): Committed {
  if (result?.outcome !== 'committed') throw new Error(`expected a commit, got ${JSON.stringify(result)}`)
  return result
}

export const interestedIn = (result: CommitResult): string[] => [...committed(result).interested].sort()
