// What every PresenceStore must do, run on every adapter. Written against the port alone: answers
// are awaited, there may be many shards, and nothing is assumed about order between them.
// The examples are in four parts; random histories against a naive store find the rest.
import { describe, test } from 'bun:test'
import { checkGateways } from './store-gateways.ts'
import { checkIndexes } from './store-indexes.ts'
import { checkRandomHistories } from './store-model.ts'
import { checkRecords } from './store-records.ts'
import { checkSummaries } from './store-summaries.ts'
import { type MakeStore, useStore } from './store-under-test.ts'

export type { MakeStore } from './store-under-test.ts'

const MODEL_RUNS = 100

/** `modelRuns` is how many random histories to play; fewer where every call is a round trip. */
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
    test('[C2] any history of calls answers like a naive store', () =>
      checkRandomHistories(makeStore, options.modelRuns ?? MODEL_RUNS))
  })
}
