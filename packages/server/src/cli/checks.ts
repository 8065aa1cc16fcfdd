// The checks of `greendot doctor`. Each examines one thing and returns the result; none throws. A failed check
// says how to fix it.
import type { Archive } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { isLoopback } from '../platform/config/rules.ts'
import { DEV_GRPC_PORT } from '../platform/config/settings.ts'
import { createLogger } from '../platform/logger.ts'
import { failureLine } from './failure.ts'

export interface Check {
  name: string
  state: 'ok' | 'warn' | 'fail'
  detail: string
  mend: string | null
}

const PROBE_TIMEOUT_MS = 3000
const FILES_COMFORTABLE = 10_000
// Earlier than this program, or later than any token: the clock must be wrong.
const CLOCK_EARLIEST_AT = Date.UTC(2025, 0, 1)
const CLOCK_LATEST_AT = Date.UTC(2100, 0, 1)
const CLOCK_SKEW_MS_MAX = 60_000

function ok(name: string, detail: string): Check {
  return { name, state: 'ok', detail, mend: null }
}

export interface DatabaseCheck {
  check: Check
  /** When a server was last alive on this database, if known. */
  aliveAt: number | null
}

/** Opens the database as a server does, which creates a missing file. */
export async function checkDatabase(config: Config): Promise<DatabaseCheck> {
  const name = 'database'
  try {
    const { openArchive } = await import('../adapters.ts')
    const archive = await openArchive(config)
    try {
      await archive.ping()
      return await checkSchema(archive)
    } finally {
      await archive.close()
    }
  } catch (error) {
    const mend = 'check database_url, and that its folder is writable'
    return { check: { name, state: 'fail', detail: failureLine(error, config), mend }, aliveAt: null }
  }
}

async function checkSchema(archive: Archive): Promise<DatabaseCheck> {
  const name = 'database'
  const pending = await archive.pending()
  if (pending.length > 0) {
    const detail = `can be written, but its schema is missing or old: ${pending.join(', ')} to apply`
    const mend = 'run "greendot migrate", or start a server, which does the same'
    return { check: { name, state: 'warn', detail, mend }, aliveAt: null }
  }
  const aliveAt = await archive.aliveAt()
  return { check: ok(name, 'can be written, and its schema is up to date'), aliveAt }
}

/** Checks who may read the files of a SQLite database, because they hold what users set and whom they know. Null for other databases. */
export async function checkDatabaseFiles(config: Config): Promise<Check | null> {
  const name = 'database files'
  const { exposedDatabaseFiles } = await import('../adapters.ts')
  const exposed = exposedDatabaseFiles(config)
  if (exposed === null) return null
  if (exposed.length === 0) return ok(name, 'other users of this machine cannot read them')
  const detail = 'other users of this machine can read what users set and whom they know'
  return { name, state: 'warn', detail, mend: `chmod 600 ${exposed.join(' ')}` }
}

/** Connects to the shared store and counts the processes on it. */
export async function checkDeployment(config: Config, clock: Clock): Promise<Check> {
  const name = 'redis_url'
  try {
    const { lookAround } = await import('../compose.ts')
    const around = await lookAround(config, { logger: createLogger({ level: 'silent' }), clock })
    if (around === null) return ok(name, 'not set: one process, state in its memory')
    const { gateways, sweepers, clockOffsetMs } = around
    const running = `${gateways} gateways and ${sweepers} sweepers run on it`
    if (gateways > 0 && sweepers === 0) {
      const mend = 'start a process with the presence role: without one no user goes offline'
      return { name, state: 'fail', detail: running, mend }
    }
    if (Math.abs(clockOffsetMs) > CLOCK_SKEW_MS_MAX) {
      const detail = `${running}, and its clock is ${clockOffsetMs} ms ahead of this machine`
      return { name, state: 'warn', detail, mend: 'set the clocks, and keep them right with NTP' }
    }
    return ok(name, running)
  } catch (error) {
    const mend = 'check redis_url, and that Redis 7 or newer answers there'
    return { name, state: 'fail', detail: failureLine(error, config), mend }
  }
}

export async function checkPort(config: Pick<Config, 'host' | 'port'>): Promise<Check> {
  const name = 'port'
  const { host, port } = config
  if (port === 0) return ok(name, 'any free port')
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true)
    return ok(name, `${port} on ${host} is free`)
  } catch (error) {
    if (await answersHealth(host, port)) return ok(name, `a greendot already answers on ${host}:${port}`)
    return { name, state: 'fail', detail: failureLine(error, config), mend: null }
  }
}

/** Null where gRPC is off, or where dev mode would pick another port. */
export async function checkGrpcPort(config: Config): Promise<Check | null> {
  const name = 'grpc_port'
  const { host, port, grpcPort, dev } = config
  if (grpcPort === null || (dev && grpcPort === DEV_GRPC_PORT)) return null
  if (grpcPort === 0) return ok(name, 'any free port')
  try {
    Bun.listen({ hostname: host, port: grpcPort, socket: { data() {} } }).stop(true)
    return ok(name, `${grpcPort} on ${host} is free`)
  } catch {
    if (await answersHealth(host, port))
      return ok(name, `${grpcPort} on ${host} is in use while greendot runs`)
    const detail = `port ${grpcPort} on ${host} is taken`
    return { name, state: 'fail', detail, mend: 'stop what uses it, or choose another with --grpc-port' }
  }
}

/** Whether a Greendot server answers there. */
async function answersHealth(host: string, port: number): Promise<boolean> {
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
    const response = await fetch(`http://${authority}/healthz`, { signal })
    const body: unknown = await response.json()
    return response.ok && typeof body === 'object' && body !== null && 'status' in body && 'version' in body
  } catch {
    return false
  }
}

export async function checkKeySet(jwksUrl: string): Promise<Check> {
  const name = 'jwks_url'
  const mend = 'open it from this machine: it must answer 200 with {"keys":[…]}'
  try {
    const response = await fetch(jwksUrl, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      redirect: 'manual',
    })
    if (response.status !== 200) return { name, state: 'fail', detail: `answers ${response.status}`, mend }
    const body: unknown = await response.json()
    const keys = typeof body === 'object' && body !== null && 'keys' in body ? body.keys : null
    if (!Array.isArray(keys) || keys.length === 0) return { name, state: 'fail', detail: 'has no keys', mend }
    const { protocol, hostname } = new URL(jwksUrl)
    if (protocol === 'http:' && !isLoopback(hostname)) {
      const detail = `${keys.length} keys, over plain http, where an attacker on the network can replace them`
      return { name, state: 'warn', detail, mend: 'use https' }
    }
    return ok(name, `${keys.length} keys`)
  } catch {
    // The error of a failed fetch quotes the URL, which may contain a key.
    return { name, state: 'fail', detail: 'cannot be fetched, or is not JSON', mend }
  }
}

export function checkClock(now: number, aliveAt: number | null): Check {
  const name = 'clock'
  const mend = 'set the clock of this machine, and keep it right with NTP'
  const shown = new Date(now).toISOString()
  if (now < CLOCK_EARLIEST_AT || now > CLOCK_LATEST_AT) {
    return { name, state: 'fail', detail: `${shown} cannot be right`, mend }
  }
  if (aliveAt !== null && aliveAt > now + CLOCK_SKEW_MS_MAX) {
    const detail = `${shown} is before a server was last alive on this database (${new Date(aliveAt).toISOString()})`
    return { name, state: 'fail', detail, mend }
  }
  return ok(name, shown)
}

/** Every connection needs a file descriptor. */
export function checkFileLimit(): Check {
  const name = 'open files'
  // Some container images have no shell.
  const shell = Bun.which('sh')
  const text = shell === null ? '' : Bun.spawnSync([shell, '-c', 'ulimit -n']).stdout.toString().trim()
  const limit = text === 'unlimited' ? Number.POSITIVE_INFINITY : Number.parseInt(text, 10)
  if (Number.isNaN(limit)) return { name, state: 'warn', detail: 'the limit cannot be read', mend: null }
  if (limit < FILES_COMFORTABLE) {
    const mend = 'raise it with "ulimit -n 65536", or LimitNOFILE=65536 in a systemd unit'
    return { name, state: 'warn', detail: `at most ${limit}, and each connection needs one`, mend }
  }
  return ok(name, `up to ${text}`)
}
