// The configuration of a simulated process, made from texts as that of a real one.
import { type Config, loadConfig } from '../../../packages/server/src/platform/config/config.ts'
import type { SimulatedSettings } from './settings.ts'

export type Role = 'gateway' | 'presence' | 'fanout'

/** No user is away by inactivity in a run: clients say it themselves. */
const AWAY_AFTER_MS = 3_600_000

export function processConfig(settings: SimulatedSettings, roles: readonly Role[]): Config {
  const flags = {
    dev: 'on',
    port: 0,
    'grpc-port': 'off',
    roles: roles.join(','),
    'heartbeat-interval-ms': settings.heartbeatMs,
    'heartbeat-ttl-ms': settings.ttlMs,
    'away-after-ms': AWAY_AFTER_MS,
    'online-delay-ms': settings.onlineDelayMs,
    'offline-delay-ms': settings.offlineDelayMs,
    'linger-ms': settings.lingerMs,
    'gateway-lease-ms': settings.leaseMs,
    'flush-ms': settings.flushMs,
    'drain-ms': settings.drainMs,
    'read-cache-ms': settings.readCacheMs,
    'history-days': settings.historyDays,
    'hidden-as': settings.hiddenAs,
    'default-visibility': settings.defaultVisibility,
    ...(settings.deployment === 'shared' && { 'redis-url': 'redis://simulated:6379' }),
  }
  const loaded = loadConfig({
    argv: Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    env: {},
    readFile: () => null,
  })
  if (!loaded.ok) throw new Error(loaded.problem)
  return loaded.config
}
