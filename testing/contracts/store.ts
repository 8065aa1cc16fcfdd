// The contract of PresenceStore, run on every adapter and written against the port alone: there may be many
// shards, and their order is undefined. The examples are in five parts; random histories are compared with a
// reference store.
import { describe, test } from 'bun:test'
import { checkDuties } from './store/duties.ts'
import { checkGateways } from './store/gateways.ts'
import { checkIndexes } from './store/indexes.ts'
import { checkRandomHistories } from './store/model.ts'
import { checkRecords } from './store/records.ts'
import { checkSummaries } from './store/summaries.ts'
import { type MakeStore, useStore } from './store/under-test.ts'

const MODEL_RUNS = 100

/** `modelRuns` is the number of random histories; fewer where every call is a round trip. */
export function storeContract(
  name: string,
  makeStore: MakeStore,
  options: { modelRuns?: number } = {},
): void {
  describe(`store contract: ${name}`, () => {
    const underTest = useStore(makeStore)
    checkRecords(underTest)
    checkIndexes(underTest)
    checkGateways(underTest)
    checkSummaries(underTest)
    checkDuties(underTest)
    test('[C2] any history of calls matches a reference store', () =>
      checkRandomHistories(makeStore, options.modelRuns ?? MODEL_RUNS))
  })
}
