// The promises of the configuration: one name in three spellings, a fixed precedence, one clear
// line for every mistake, and no secret in any of them.
import { describe, expect, test } from 'bun:test'
import { POLICIES } from '../../presence/core/policy.ts'
import { type Config, loadConfig } from './config.ts'
import { flagOf, SETTING_NAMES, type SettingName, variableOf } from './settings.ts'

const SECRET = 'a secret that is never printed, 0123456789'
const KEY = 'server-key-never-printed'

interface Given {
  argv?: string[]
  env?: Record<string, string>
  files?: Record<string, string>
}

function load({ argv = [], env = {}, files = {} }: Given) {
  return loadConfig({ argv, env, readFile: (path) => files[path] ?? null })
}

function configOf(given: Given): Config {
  const loaded = load(given)
  if (!loaded.ok) throw new Error(`expected a config, got: ${loaded.problem}`)
  return loaded.config
}

function problemOf(given: Given): string {
  const loaded = load(given)
  if (loaded.ok) throw new Error('expected a problem, got a config')
  expect(loaded.problem).not.toContain('\n')
  return loaded.problem
}

const inFile = (text: string): Given => ({ files: { 'greendot.config.json': text } })

/** A value of each setting that differs from the default and is allowed together with `dev`. */
const OTHER_VALUES: Partial<Record<SettingName, { text: string; json: unknown; value: unknown }>> = {
  host: { text: 'localhost', json: 'localhost', value: 'localhost' },
  port: { text: '0', json: 0, value: 0 },
  grpc_port: { text: 'off', json: 'off', value: null },
  redis_url: { text: 'redis://h:1', json: 'redis://h:1', value: 'redis://h:1' },
  redis_shards: { text: '4096', json: 4096, value: 4096 },
  read_replicas: { text: 'on', json: true, value: true },
  read_cache_ms: { text: '0', json: 0, value: 0 },
  database_pool: { text: '2', json: 2, value: 2 },
  database_url: { text: 'sqlite:///tmp/x.db', json: 'sqlite:///tmp/x.db', value: 'sqlite:///tmp/x.db' },
  history_days: { text: '30', json: 30, value: 30 },
  webhook_private_addresses: { text: 'off', json: false, value: false },
  webhook_pending_max: { text: '5000', json: 5_000, value: 5_000 },
  dev: { text: 'on', json: true, value: true },
  jwt_secret: { text: SECRET, json: SECRET, value: SECRET },
  jwks_url: { text: 'https://id.test/keys', json: 'https://id.test/keys', value: 'https://id.test/keys' },
  jwt_audience: { text: 'chat,game', json: ['chat', 'game'], value: ['chat', 'game'] },
  jwt_issuer: { text: 'https://id.test/', json: 'https://id.test/', value: ['https://id.test/'] },
  allowed_origins: {
    text: 'https://App.example:443, capacitor://localhost,http://[::1]:3000',
    json: ['https://app.example', 'capacitor://localhost', 'http://[::1]:3000'],
    value: ['https://app.example', 'capacitor://localhost', 'http://[::1]:3000'],
  },
  pages: { text: 'none', json: 'none', value: 'none' },
  server_keys: { text: `${KEY}1, ${KEY}2`, json: [`${KEY}1`, `${KEY}2`], value: [`${KEY}1`, `${KEY}2`] },
  policy: { text: 'calm', json: 'calm', value: POLICIES.calm },
  heartbeat_interval_ms: { text: '1000', json: 1000, value: 1000 },
  heartbeat_ttl_ms: { text: '40000', json: 40_000, value: 40_000 },
  away_after_ms: { text: '60000', json: 60_000, value: 60_000 },
  online_delay_ms: { text: '7', json: 7, value: 7 },
  offline_delay_ms: { text: '0', json: 0, value: 0 },
  linger_ms: { text: '9', json: 9, value: 9 },
  gateway_lease_ms: { text: '500', json: 500, value: 500 },
  flush_ms: { text: '1000', json: 1000, value: 1000 },
  paced_above: { text: '20', json: 20, value: 20 },
  queued_above: { text: '1000000', json: 1_000_000, value: 1_000_000 },
  polled_above: { text: '50000', json: 50_000, value: 50_000 },
  pace_ms_max: { text: '60000', json: 60_000, value: 60_000 },
  watch_limit: { text: '10000', json: 10_000, value: 10_000 },
  hidden_as: { text: 'null', json: null, value: null },
  default_visibility: { text: 'contacts', json: 'contacts', value: 'contacts' },
  frames_per_second: { text: '3', json: 3, value: 3 },
  sessions_per_user: { text: '4', json: 4, value: 4 },
  poll_burst: { text: '1', json: 1, value: 1 },
  poll_every_ms: { text: '1000', json: 1000, value: 1000 },
  write_burst: { text: '1', json: 1, value: 1 },
  write_every_ms: { text: '1000', json: 1000, value: 1000 },
  otlp_endpoint: {
    text: 'http://127.0.0.1:4318',
    json: 'http://127.0.0.1:4318',
    value: 'http://127.0.0.1:4318',
  },
  trace_one_in: { text: '7', json: 7, value: 7 },
  metrics_open: { text: 'on', json: true, value: true },
  drain_ms: { text: '0', json: 0, value: 0 },
  log_level: { text: 'debug', json: 'debug', value: 'debug' },
}

// These have no other value that goes by itself; what they refuse is tested below.
const WITHOUT_OTHER_VALUE: SettingName[] = ['roles', 'workers', 'reuse_port', 'kafka_brokers']

function fieldIn(config: Config, name: SettingName): unknown {
  const field = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return ({ ...config, ...config.policy, ...config.rules } as Record<string, unknown>)[field]
}

describe('three spellings', () => {
  for (const name of SETTING_NAMES.filter((name) => !WITHOUT_OTHER_VALUE.includes(name))) {
    test(`[C1] ${name} as a flag, as a variable and in the file`, () => {
      const other = OTHER_VALUES[name]!
      const dev = name === 'dev' ? [] : ['--dev']
      const flag = configOf({ argv: name === 'dev' ? ['--dev'] : ['--dev', `${flagOf(name)}=${other.text}`] })
      const variable = configOf({ argv: dev, env: { [variableOf(name)]: other.text } })
      const file = configOf({
        argv: dev,
        files: { 'greendot.config.json': JSON.stringify({ [name]: other.json }) },
      })
      expect(fieldIn(configOf({ argv: [...dev, '--jwt-secret', 'x'.repeat(32)] }), name)).not.toEqual(
        other.value,
      )
      expect(fieldIn(flag, name)).toEqual(other.value)
      expect(fieldIn(variable, name)).toEqual(other.value)
      expect(fieldIn(file, name)).toEqual(other.value)
    })
  }

  test('[C1] flags win over environment over file', () => {
    const files = { 'greendot.config.json': '{"port": 1, "flush_ms": 1, "watch_limit": 1, "dev": true}' }
    const env = { GREENDOT_PORT: '2', GREENDOT_FLUSH_MS: '2' }
    const config = configOf({ argv: ['--port=3'], env, files })
    expect([config.port, config.flushMs, config.watchLimit]).toEqual([3, 2, 1])
  })

  test('[C1] the last of repeated flags wins, and a switch can be turned off again', () => {
    const config = configOf({
      argv: ['--dev', '--port', '1', '--port', '2', '--no-dev', '--jwt-secret', SECRET],
    })
    expect([config.port, config.dev]).toEqual([2, false])
    expect(configOf({ argv: ['--dev=off', `--jwt-secret=${SECRET}`], env: { GREENDOT_DEV: '1' } }).dev).toBe(
      false,
    )
  })

  test('[C1] an empty variable is one that is not set', () => {
    expect(configOf({ argv: ['--dev'], env: { GREENDOT_PORT: '', GREENDOT_JWT_SECRET: '' } }).port).toBe(4400)
  })

  test('[C1] --config and GREENDOT_CONFIG name another file, which must exist', () => {
    const files = { 'other.json': '{"port": 9}', 'greendot.config.json': '{"port": 8}' }
    expect(configOf({ argv: ['--dev', '--config', 'other.json'], files }).port).toBe(9)
    expect(configOf({ argv: ['--dev'], env: { GREENDOT_CONFIG: 'other.json' }, files }).port).toBe(9)
    expect(problemOf({ argv: ['--dev', '--config', 'gone.json'] })).toContain('gone.json: there is no such')
  })
})

describe('defaults', () => {
  test('[C1] what a server gets that is told nothing but dev', () => {
    expect(configOf({ argv: ['--dev'] })).toEqual({
      host: '127.0.0.1',
      port: 4400,
      grpcPort: 4401,
      roles: ['gateway', 'presence', 'fanout'],
      workers: 1,
      reusePort: false,
      redisUrl: null,
      redisShards: 64,
      readReplicas: false,
      readCacheMs: 1000,
      databaseUrl: 'sqlite://data/greendot.db',
      databasePool: 8,
      kafkaBrokers: [],
      historyDays: 0,
      webhookPrivateAddresses: true,
      webhookPendingMax: 1_000_000,
      dev: true,
      jwtSecret: null,
      jwksUrl: null,
      jwtAudience: [],
      jwtIssuer: [],
      allowedOrigins: ['*'],
      pages: 'all',
      serverKeys: [],
      policyName: 'instant',
      policy: {
        heartbeatIntervalMs: 15_000,
        heartbeatTtlMs: 30_000,
        awayAfterMs: 300_000,
        onlineDelayMs: 0,
        offlineDelayMs: 5000,
        lingerMs: 0,
      },
      gatewayLeaseMs: 10_000,
      flushMs: 50,
      pacedAbove: 5_000,
      queuedAbove: 10_000,
      polledAbove: 0,
      paceMsMax: 10_000,
      watchLimit: 500,
      rules: { hiddenAs: 'offline', defaultVisibility: 'everyone' },
      framesPerSecond: 100,
      sessionsPerUser: 32,
      pollBurst: 5,
      pollEveryMs: 30_000,
      writeBurst: 20,
      writeEveryMs: 200,
      otlpEndpoint: null,
      traceOneIn: 100,
      metricsOpen: false,
      drainMs: 5000,
      logLevel: 'info',
    })
  })

  test('[D6] a policy sets six defaults, and a setting given by name wins over it', () => {
    expect(configOf({ argv: ['--dev', '--policy', 'linger'] }).policy).toEqual(POLICIES.linger)
    const files = { 'greendot.config.json': '{"offline_delay_ms": 1}' }
    const config = configOf({ argv: ['--dev', '--policy', 'calm'], files })
    expect(config.policy).toEqual({ ...POLICIES.calm, offlineDelayMs: 1 })
  })

  test('[C1] a config cannot be changed', () => {
    const config = configOf({ argv: ['--dev'] })
    for (const part of [config, config.policy, config.roles, config.serverKeys]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })
})

describe('one clear line', () => {
  const mistakes: [string, Given, string][] = [
    [
      'an unknown flag',
      { argv: ['--dev', '--flsh-ms', '5'] },
      '--flsh-ms: no such setting; did you mean --flush-ms?',
    ],
    [
      'a flag like nothing we know',
      { argv: ['--x=1'] },
      '--x: no such setting; "greendot serve --help" lists',
    ],
    ['a flag without its value', { argv: ['--port'] }, '--port: needs a value'],
    ['a flag where a value should be', { argv: ['--port', '--dev'] }, '--port: needs a value'],
    ['a value too many', { argv: ['--dev', 'true'] }, 'a value belongs to no flag'],
    [
      'an unknown variable',
      { env: { GREENDOT_PROT: '1' } },
      'GREENDOT_PROT: no such setting; did you mean GREENDOT_PORT?',
    ],
    ['a variable in lower case', { env: { GREENDOT_port: '1' } }, 'GREENDOT_port: no such setting'],
    ['what Kubernetes adds', { env: { GREENDOT_SERVICE_HOST: '10.0.0.1' } }, 'enableServiceLinks: false'],
    ['an unknown key', inFile('{"prot": 1}'), 'prot: no such setting; did you mean port?'],
    ['a key of all objects', inFile('{"toString": 1}'), 'toString: no such setting'],
    ['a file that is not JSON', inFile('{port: 1}'), 'greendot.config.json: is not JSON'],
    ['a file that is a list', inFile('[]'), 'is not a JSON object'],
    ['an object as a value', inFile('{"port": {}}'), 'port: the value given is not a whole'],
    ['a list of numbers', inFile('{"server_keys": [1]}'), 'is not a comma-separated list'],
    ['null where it means nothing', inFile('{"port": null}'), 'port: "null" is not a whole'],
    [
      'text for a number',
      { argv: ['--port', 'http'] },
      '--port: "http" is not a whole number from 0 to 65535',
    ],
    ['a negative number', { argv: ['--port', '-1'] }, '--port: "-1" is not a whole number'],
    ['an exponent', { env: { GREENDOT_PORT: '1e3' } }, 'GREENDOT_PORT: "1e3" is not a whole number'],
    ['an empty flag', { argv: ['--host='] }, '--host: "" is not a host name'],
    ['a port too high', { argv: ['--port', '65536'] }, '--port: "65536"'],
    ['no flush', { argv: ['--flush-ms', '0'] }, '--flush-ms: "0" is not a whole number from 1 to 1000'],
    ['a flush too slow', { argv: ['--flush-ms', '1001'] }, '--flush-ms: "1001"'],
    [
      'no watches',
      { argv: ['--watch-limit', '0'] },
      '--watch-limit: "0" is not a whole number from 1 to 10000',
    ],
    ['too many watches', { argv: ['--watch-limit', '100001'] }, '--watch-limit: "100001"'],
    ['a delay of months', { argv: ['--linger-ms', '9999999999'] }, '--linger-ms: "9999999999"'],
    ['an unknown policy', { argv: ['--policy', 'fast'] }, '"fast" is not one of instant, calm, linger'],
    [
      'an unknown role',
      { argv: ['--roles', 'gateway,cook'] },
      '"gateway,cook" is not a comma-separated list',
    ],
    ['a half switch', { env: { GREENDOT_DEV: 'maybe' } }, 'GREENDOT_DEV: "maybe" is not on or off'],
    ['another scheme', { argv: ['--jwks-url', 'file:///etc/passwd'] }, 'is not an http or https URL'],
    ['another database', { argv: ['--database-url', 'mysql://h/d'] }, 'is not sqlite://'],
    [
      'a TTL no longer than the interval',
      { argv: ['--dev', '--heartbeat-ttl-ms', '15000'] },
      'heartbeat_ttl_ms (15000) must be larger than heartbeat_interval_ms (15000)',
    ],
  ]
  for (const [what, given, line] of mistakes) {
    test(`[C1] ${what}`, () => expect(problemOf(given)).toContain(line))
  }

  test('[C1] a file that cannot be read', () => {
    const readFile = () => {
      throw new Error('EISDIR')
    }
    const loaded = loadConfig({ argv: ['--dev'], env: {}, readFile })
    expect(loaded).toMatchObject({
      ok: false,
      problem: expect.stringContaining('greendot.config.json: cannot be read'),
    })
  })
})

describe('processes that must meet', () => {
  const kafka = ['--kafka-brokers', '127.0.0.1:9092']
  for (const argv of [['--workers', '2'], ['--reuse-port'], ['--roles', 'gateway'], kafka]) {
    test(`[C1] ${argv.join(' ')} needs redis_url`, () => {
      expect(problemOf({ argv: ['--dev', ...argv] })).toContain('redis_url')
      expect(load({ argv: ['--dev', ...argv, '--redis-url', 'redis://127.0.0.1:6379'] }).ok).toBe(true)
    })
  }
})

describe('an open server is never started by accident', () => {
  test('[C6] without dev and without a way to check tokens', () => {
    expect(problemOf({})).toContain('set jwt_secret or jwks_url')
    expect(problemOf({ argv: ['--server-keys', KEY] })).toContain('set jwt_secret or jwks_url')
    const sources = { argv: [], env: {}, readFile: () => null }
    expect(loadConfig(sources, 'optional').ok).toBe(true)
  })

  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.1.2',
    'example.test',
    '127.0.0.1.example.test',
    '128.0.0.1',
  ]) {
    test(`[C6] dev on ${host} is refused`, () => {
      expect(problemOf({ argv: ['--dev', '--host', host, '--jwt-secret', SECRET] })).toContain(
        `refused on ${host}`,
      )
    })
  }

  for (const host of ['127.0.0.1', '127.8.8.8', 'localhost', '::1']) {
    test(`[C6] dev on ${host} is fine`, () =>
      expect(configOf({ argv: ['--dev', '--host', host] }).host).toBe(host))
  }

  test('[C6] two ways to check tokens are one too many', () => {
    const argv = ['--jwt-secret', SECRET, '--jwks-url', 'https://id.test/keys']
    expect(problemOf({ argv })).toContain('remove one')
  })

  test('[C6] a secret needs 32 bytes, in dev too', () => {
    expect(problemOf({ argv: ['--jwt-secret', 'x'.repeat(31)] })).toContain('openssl rand')
    expect(problemOf({ argv: ['--dev', '--jwt-secret', 'x'.repeat(31)] })).toContain('fewer than 32 bytes')
    expect(configOf({ argv: ['--jwt-secret', 'é'.repeat(16)] }).jwtSecret).toBe('é'.repeat(16))
  })

  test('[C6] a server key needs 16 characters outside dev', () => {
    const argv = ['--jwt-secret', SECRET, '--server-keys', `${KEY},fifteen-letters`]
    expect(problemOf({ argv })).toContain('server_keys has a key of fewer than 16 characters')
    expect(configOf({ argv: [...argv, '--dev'] }).serverKeys).toEqual([KEY, 'fifteen-letters'])
  })
})

describe('secrets stay secret', () => {
  const hidden = 'hunter2'
  const leaks: [string, Given][] = [
    ['a short jwt_secret', { argv: ['--jwt-secret', hidden] }],
    ['a jwt_secret with white space around it', { env: { GREENDOT_JWT_SECRET: ` ${hidden}` } }],
    ['a misspelt flag', { argv: [`--jwt-secert=${hidden}`] }],
    ['a misspelt flag and its value', { argv: ['--jwt-secert', hidden] }],
    ['a list torn apart by a space', { argv: ['--dev', '--server-keys', 'first,', hidden] }],
    ['a misspelt variable', { env: { GREENDOT_JWT_SECERT: hidden } }],
    ['a broken file', { files: { 'greendot.config.json': `{"jwt_secret": ${hidden}}` } }],
    [
      'a secret of the wrong type',
      { files: { 'greendot.config.json': `{"jwt_secret": {"a": "${hidden}"}}` } },
    ],
    ['a server key with a space', { argv: ['--server-keys', `${hidden} x`] }],
    ['a short server key', { argv: ['--jwt-secret', SECRET, '--server-keys', hidden] }],
    ['a password in a wrong URL', { argv: ['--database-url', `mysql://me:${hidden}@h/d`] }],
    ['a password in a URL', { argv: ['--dev', '--redis-url', `redis:/:${hidden}@h:1`] }],
    ['a key in a query', { argv: ['--jwks-url', `ftp://h/keys?key=${hidden}`] }],
  ]
  for (const [what, given] of leaks) {
    test(`[C6] ${what} is not repeated`, () => expect(problemOf(given)).not.toContain(hidden))
  }
})
