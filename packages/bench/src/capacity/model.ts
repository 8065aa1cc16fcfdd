// The capacity model: from a workload and constants to a plan. Pure: the same in, the same out. The
// number of gateways is a fixed point: more of them means more messages and more interest, which takes
// more of them. Both only ever grow, so counting up from one machine finds the smallest plan that holds.

import type { Constants, Read } from './constants.ts'
import { costDrivers } from './cost.ts'
import { type Gateways, gatewaysOf } from './gateways.ts'
import { createSheet, type Figure } from './sheet.ts'
import { type PostgresPlan, postgresOf, type RedisPlan, redisOf, SHARDS_MAX } from './stores.ts'
import { type StreamingPlan, streamingOf } from './streaming.ts'
import { type Textbook, textbookOf } from './textbook.ts'
import { type Traffic, trafficOf } from './traffic.ts'
import type { Workload } from './workload.ts'

const TRIES_MAX = 1_000
const MACHINES_MAX = 1e7

export interface Plan {
  workload: Workload
  traffic: Traffic
  gateways: Gateways
  redis: RedisPlan
  postgres: PostgresPlan
  streaming: StreamingPlan
  textbook: Textbook
  /** What costs most comes first. */
  drivers: Figure[]
  /** Limits of the plan, as sentences. */
  warnings: string[]
}

export function plan(workload: Workload, constants: Constants): Read<Plan> {
  const sheet = createSheet(constants)
  const traffic = trafficOf(workload, sheet)
  let machines = sheet.figure('machines', '', () => 1 + workload.reserve)
  for (let tries = 0; tries < TRIES_MAX && machines.value <= MACHINES_MAX; tries++) {
    const found = gatewaysOf(workload, traffic, sheet, machines)
    if (found.machines.value <= machines.value) {
      // Once more from the result, so that every figure names the constants it rests on.
      const gateways = gatewaysOf(workload, traffic, sheet, found.machines)
      const redis = redisOf(workload, traffic, gateways, sheet)
      const postgres = postgresOf(workload, traffic, sheet)
      return {
        ok: true,
        value: {
          workload,
          traffic,
          gateways,
          redis,
          postgres,
          streaming: streamingOf(workload, gateways, redis, sheet),
          textbook: textbookOf(workload, traffic, gateways, sheet),
          drivers: costDrivers(workload, { traffic, gateways, redis, postgres }, sheet),
          warnings: warningsOf(workload, redis),
        },
      }
    }
    machines = found.machines
  }
  const problem = 'no number of such machines is enough: each one more makes work for more than itself'
  return { ok: false, problem: `${problem}; give them more memory (--memory-gb) or fewer --cores` }
}

function warningsOf({ contacts }: Workload, redis: RedisPlan): string[] {
  const warnings: string[] = []
  const masters = redis.masters.value
  if (masters > SHARDS_MAX) {
    const deployments = Math.ceil(masters / SHARDS_MAX)
    warnings.push(
      `${masters.toLocaleString('en')} Redis masters are more than the ${SHARDS_MAX} shards that users can be spread over: run ${deployments} deployments, or place users who are contacts of each other on the same gateways`,
    )
  }
  if (contacts > 500) warnings.push('more than 500 contacts need a higher watch_limit than the default')
  return warnings
}
