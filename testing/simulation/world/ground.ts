// What all processes of a run stand on: time, network, chance, the simulated Redis and the simulated database. Parts of a
// process may be replaced before other parts are given them: that is how bugs are planted.
import type { HotState } from '../../../packages/server/src/adapters.ts'
import type { Archive } from '../../../packages/server/src/archive/port.ts'
import type { Doubts } from '../../../packages/server/src/gateway/doubts.ts'
import type { Clock } from '../../../packages/server/src/platform/clock.ts'
import type { Config } from '../../../packages/server/src/platform/config/config.ts'
import type { Replacements } from '../../../packages/server/src/presence/presence.ts'
import type { SimulatedDatabase } from '../adapters/archive.ts'
import type { SimulatedRedis } from '../adapters/redis-link.ts'
import type { Script } from '../adapters/store-scripts.ts'
import type { Network } from '../time/network.ts'
import type { Timeline } from '../time/timeline.ts'
import type { SimulatedSettings } from './settings.ts'

/** Parts of a process that are replaced. */
export interface Planting {
  /** Scripts of the simulated Redis, by their hash. */
  scripts?: ReadonlyMap<string, (script: Script) => Script>
  hot?: (hot: HotState, clock: Clock) => HotState
  doubts?: (doubts: Doubts) => Doubts
  archive?: (archive: Archive) => Archive
  clock?: (clock: Clock) => Clock
  config?: (config: Config) => Config
  replace?: Replacements
}

export interface Ground {
  seed: number
  settings: SimulatedSettings
  timeline: Timeline
  network: Network
  redis: SimulatedRedis
  database: SimulatedDatabase
  /** Makes new parts for each process, because some remember what they have seen. */
  plant: () => Planting
  /** Is given what processes log as a warning or worse. */
  onLog(process: string, level: string, text: string): void
}
