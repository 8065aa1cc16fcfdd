// The settings of a random run, short so that a run takes half a minute, and the times that follow from them.
import type { SettingsInput } from '../../../clients/server.ts'

export const TIMES = {
  heartbeat_interval_ms: 500,
  heartbeat_ttl_ms: 3_000,
  offline_delay_ms: 1_000,
  gateway_lease_ms: 1_500,
  drain_ms: 1_000,
} satisfies SettingsInput

const { gateway_lease_ms: leaseMs, offline_delay_ms: delayMs, heartbeat_ttl_ms: ttlMs } = TIMES

/** How long a user may be shown after the end of a connection, by the way it ended. */
export const GHOST_MS = {
  left: 0,
  closed: delayMs,
  silent: ttlMs + delayMs,
  lost: leaseMs + delayMs,
} as const

/** A change is visible within this time; twice what is promised, because the machine may be loaded. */
export const VISIBLE_MS = 2_000
/** A frozen server keeps its lease if it is back within half of it. */
export const FROZEN_MS_MAX = leaseMs / 2
/** Gateways notice and announce themselves, and sweepers wait until they have. */
const SETTLING_MS = 3_000
/** The store lost or missed something: orphans are found within two leases, then the delay passes. */
export const STORE_HEALS_MS = 2 * leaseMs + SETTLING_MS + delayMs + VISIBLE_MS
/** A server came or went: its lease expires and the delay passes; a frozen one announces itself again. */
export const SERVER_HEALS_MS = leaseMs + SETTLING_MS + delayMs + VISIBLE_MS
/** A statement times out after 2 s, and a change may wait for a read and a write. */
export const ARCHIVE_HEALS_MS = 4_000 + VISIBLE_MS
/** Brokers take no shorter session of a consumer than 6 s. */
export const KAFKA_SESSION_MS = Math.max(leaseMs, 6_000)
/** Consumers hear at a heartbeat that the partitions are shared anew. A consumer that lost Kafka joins again. */
const [KAFKA_HEARTBEAT_MS, JOIN_AGAIN_MS] = [1_000, 2_000]
/** Kafka takes the dead owner's partitions away when its session is over; then another works off what waited. */
export const OWNER_HEALS_MS = KAFKA_SESSION_MS + 2 * KAFKA_HEARTBEAT_MS + VISIBLE_MS
/**
 * Owners join again, once Kafka does not wait for their former selves any more. Then gateways announce themselves, and
 * declare what is left under their former names lost.
 */
export const KAFKA_HEALS_MS =
  JOIN_AGAIN_MS + KAFKA_SESSION_MS + KAFKA_HEARTBEAT_MS + 2 * SETTLING_MS + delayMs + VISIBLE_MS
/** Clients that reconnect are back after their jitter. */
export const CLIENTS_HEAL_MS = delayMs + VISIBLE_MS
