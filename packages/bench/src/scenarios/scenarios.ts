// The code of each scenario by its name.
import type { ScenarioName } from '../catalog.ts'
import { compare } from '../peers/scenario.ts'
import { celebrity } from './celebrity.ts'
import { churn } from './churn.ts'
import { connect } from './connect.ts'
import { fanout } from './fanout.ts'
import { idle } from './idle.ts'
import { memory } from './memory.ts'
import { query } from './query.ts'
import type { Scenario } from './scenario.ts'
import { soak } from './soak.ts'
import { storm } from './storm.ts'

export const SCENARIOS: Record<ScenarioName, Scenario> = {
  connect,
  idle,
  churn,
  memory,
  fanout,
  celebrity,
  query,
  storm,
  soak,
  peers: compare,
}
