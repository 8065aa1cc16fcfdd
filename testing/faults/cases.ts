// The faults, in the order in which they are run and listed.
import { archiveStoppedThenFlushed, flushedThenArchiveStopped } from './cases/choices-kept.ts'
import { clockSkew } from './cases/clock-skew.ts'
import { gatewayKilled } from './cases/gateway-killed.ts'
import { gatewayPartitioned } from './cases/gateway-partitioned.ts'
import { kafkaAway, kafkaFrozen } from './cases/kafka-away.ts'
import {
  actsAfterFlush,
  oneMasterEmptied,
  redisBackEmpty,
  versionsWhileHealing,
} from './cases/memory-lost.ts'
import { ownerKilled, ownersRestarted } from './cases/owner-replaced.ts'
import { postgresDown } from './cases/postgres-down.ts'
import { presenceKilled } from './cases/presence-killed.ts'
import { propagation } from './cases/propagation.ts'
import { redisFlushed, redisRestartedEmpty } from './cases/redis-emptied.ts'
import { redisFailover } from './cases/redis-failover.ts'
import { redisUnreachable } from './cases/redis-unreachable.ts'
import { gatewaysRestarted, workersRestarted } from './cases/rolling-restart.ts'
import { steadyState } from './cases/steady-state.ts'
import { departuresWhileLocked, killedBeforePublication } from './cases/work-interrupted.ts'
import type { FaultCase } from './fixture.ts'

export const CASES: readonly FaultCase[] = [
  gatewayKilled,
  presenceKilled,
  redisRestartedEmpty,
  redisFlushed,
  redisUnreachable,
  redisFailover,
  postgresDown,
  gatewayPartitioned,
  gatewaysRestarted,
  workersRestarted,
  clockSkew,
  steadyState,
  propagation,
  archiveStoppedThenFlushed,
  flushedThenArchiveStopped,
  oneMasterEmptied,
  killedBeforePublication,
  departuresWhileLocked,
  redisBackEmpty,
  versionsWhileHealing,
  actsAfterFlush,
  ownerKilled,
  ownersRestarted,
  kafkaAway,
  kafkaFrozen,
]
