// Holds what is under deploy/ against the program: a variable, a command, a port or a path that the
// program does not know fails here and not on a real cluster. No container engine is needed; where
// kubectl or systemd-analyze is installed, they are asked too.
import { afterAll, describe, expect, test } from 'bun:test'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BODY_BYTES_MAX } from '../../packages/protocol/src/limits.ts'
import { COMMANDS } from '../../packages/server/src/cli/commands.ts'
import { SETTING_NAMES, SETTINGS, variableOf } from '../../packages/server/src/platform/config/settings.ts'
import { RUNTIME_FLAGS } from '../../packages/server/src/platform/runtime-flags.ts'
import { POLICIES } from '../../packages/server/src/presence/core/policy.ts'
import { startServer } from '../clients/server.ts'
import {
  COMPOSE_FILES,
  commandOf,
  compose,
  composeWith,
  configOf,
  containerOf,
  DEPLOY,
  defaults,
  deployments,
  drainSeconds,
  FILLED,
  files,
  IMAGE,
  inLast,
  kustomization,
  matches,
  ofKind,
  ours,
  PROBES,
  PROGRAM,
  roleOf,
  rolesWithWork,
  run,
  services,
  templateOf,
  textOf,
  tool,
  variablesIn,
  wordsInLast,
  workloads,
} from './deploy-files.ts'
import { at, entries, list, type Variables, words } from './deploy-yaml.ts'

const UNITS = ['systemd/greendot.service', 'systemd/greendot@.service'] as const
/** The values of a directive, in order. */
const directive = (path: string, key: string) => matches(path, new RegExp(`^${key}=(.*)$`, 'gm'))

const folder = fs.mkdtempSync(join(tmpdir(), 'greendot-deploy-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

describe('what the files say to the program', () => {
  test('[X8] every variable is a setting', () => {
    const known = [...SETTING_NAMES.map(variableOf), 'GREENDOT_']
    const named = files.flatMap((path) => matches(path, /(GREENDOT_[A-Z0-9_]*)/g))
    expect(named).toContain('GREENDOT_REDIS_URL')
    expect(named.filter((variable) => !known.includes(variable))).toEqual([])
  })

  test('[C1] every role that has work is run and no other, and the program takes the settings it is given', () => {
    const image = Object.fromEntries(inLast('ENV').map((text) => text.split('=')))
    const stores = { GREENDOT_REDIS_URL: 'redis://a:1', GREENDOT_DATABASE_URL: 'postgres://a@b/c' }
    const filled = { ...stores, GREENDOT_JWT_SECRET: FILLED.GREENDOT_JWT_SECRET }
    for (const [, service] of ours) {
      const env = Object.fromEntries(entries(at(service, 'environment'))) as Variables
      const config = configOf({ ...image, ...env }, commandOf(service))
      expect(config).toMatchObject({ host: '0.0.0.0', port: defaults.port, drainMs: defaults.drainMs })
      // Scrapers inside have no key, and those outside do not get past the proxy.
      expect(config.metricsOpen).toBe(commandOf(service) !== 'migrate')
    }
    const settings = { ...image, ...variablesIn('kubernetes/settings.env'), ...filled }
    const inside = { host: '0.0.0.0', metricsOpen: true }
    for (const workload of workloads) expect(configOf(settings, roleOf(workload))).toMatchObject(inside)
    const unit = { ...variablesIn('systemd/example.env'), ...filled }
    expect(configOf(unit, 'gateway').metricsOpen).toBe(false)
    const all = [...rolesWithWork, 'migrate'].sort()
    expect(all).toEqual(expect.arrayContaining(['gateway', 'presence']))
    expect([...new Set(ours.map(([, service]) => commandOf(service)))].sort()).toEqual(all)
    expect(workloads.map(roleOf).sort()).toEqual(all)
    // Documents and comments start no other role either.
    const started = files.flatMap((path) => matches(path, /greendot@([a-z]+)/g))
    expect([...new Set(started)].sort()).toEqual([...rolesWithWork].sort())
  })

  test('[C9] the runtime is set up as it was measured', () => {
    const measured = Object.entries(RUNTIME_FLAGS).map(([name, value]) => `${name}=${value}`)
    expect(inLast('ENV')).toEqual(expect.arrayContaining(measured))
    for (const path of UNITS) expect(directive(path, 'Environment')).toEqual(measured)
  })

  test('[C1] every command exists', () => {
    const called = /(?:`greendot\s|-- greendot\s|bin\/greendot )\s*([a-z]+)/g
    const written = files.flatMap((path) => matches(path, called))
    expect(written).toContain('doctor')
    const commands = COMMANDS.map(({ name }) => name)
    const named = [...written, ...wordsInLast('CMD'), ...rolesWithWork, 'migrate']
    expect(named.filter((command) => !commands.includes(command))).toEqual([])
    const started = UNITS.flatMap((path) => directive(path, 'ExecStart'))
    expect([...wordsInLast('ENTRYPOINT'), ...started]).toEqual([PROGRAM, `${PROGRAM} serve`, `${PROGRAM} %i`])
  })

  test('[C7] whatever stops the program waits longer than it drains', () => {
    const roles = ours.filter(([, service]) => commandOf(service) !== 'migrate')
    const graces = roles.map(([, service]) => Number.parseInt(String(at(service, 'stop_grace_period')), 10))
    const stops = UNITS.map((path) => Number(directive(path, 'TimeoutStopSec')))
    const podDrain = Number(variablesIn('kubernetes/settings.env').GREENDOT_DRAIN_MS) / 1000 - drainSeconds
    const pods = deployments.map((one) => {
      const grace = Number(at(templateOf(one), 'spec terminationGracePeriodSeconds'))
      return grace - podDrain - Number(at(containerOf(one), 'lifecycle preStop sleep seconds'))
    })
    expect([graces.length, pods.length]).toEqual([4, 3])
    // A second SIGTERM means now, so only the process that was started may get the first.
    expect(UNITS.flatMap((path) => directive(path, 'KillMode'))).toEqual(['mixed', 'mixed'])
    for (const seconds of [...graces, ...stops, ...pods])
      expect(seconds).toBeGreaterThanOrEqual(drainSeconds + 10)
  })

  test('[C6] no file holds a secret, and those that will are ignored by Git', () => {
    const secrets = SETTING_NAMES.filter((name) => SETTINGS[name].secret).map(variableOf)
    const isSecret = (name: string) => secrets.includes(name) || /PASSWORD|_URL$/.test(name)
    const examples = files.filter((path) => path.endsWith('.env'))
    const given = examples.flatMap((path) => Object.entries(variablesIn(path)))
    expect(given.filter(([name]) => isSecret(name)).length).toBeGreaterThan(5)
    expect(given.filter(([name, value]) => isSecret(name) && value !== '')).toEqual([])
    expect([ofKind('Secret'), at(kustomization, 'secretGenerator')]).toEqual([[], undefined])
    // Only a variable, or the word itself, may stand where a password would.
    const passwords = files.flatMap((path) => matches(path, /:\/\/[^\s:@/]*:([^\s@/]+)@/g))
    expect(passwords.filter((one) => one !== 'password')).toEqual([])
    const inCompose = matches('compose.yaml', /(?:PASSWORD|AUTH|SECRET|KEYS|requirepass):? ([^}\n]*)/g)
    expect(inCompose.filter((one) => !/^(\$\{\w+:[-?]|in \.env|or GREEN)/.test(one))).toEqual([])
    const filledIn = ['deploy/.env', 'deploy/kubernetes/secrets.env']
    expect(run(['git', 'check-ignore', '--no-index', ...filledIn]).out).toBe(`${filledIn.join('\n')}\n`)
  })
})

describe('health', () => {
  const bash = tool('bash')
  const asks = `[X8] health is asked where it is answered, and silence is no health${bash.note}`
  test.skipIf(bash.isMissing)(asks, async () => {
    const asked = new Set([
      ...deployments.flatMap((one) => PROBES.map((probe) => at(containerOf(one), `${probe} httpGet path`))),
      ...deployments.map((one) => at(templateOf(one), 'metadata annotations prometheus.io/path')),
      ...matches('Caddyfile', /health_uri (\S+)/g),
    ])
    expect(asked).toEqual(new Set(['/healthz', '/readyz', '/metrics']))
    const settings = variablesIn('kubernetes/settings.env')
    const metrics_open = settings[variableOf('metrics_open')]!
    const server = await startServer({ dev: false, jwt_secret: FILLED.GREENDOT_JWT_SECRET, metrics_open })
    const env = { PATH: process.env.PATH ?? '', GREENDOT_PORT: new URL(server.url).port }
    const check = () => Bun.spawn(wordsInLast('HEALTHCHECK'), { env, stderr: 'ignore' }).exited
    try {
      const statuses = [...asked].map(async (path) => (await fetch(`${server.url}${path}`)).status)
      expect(await Promise.all([...statuses, check()])).toEqual([200, 200, 200, 0])
    } finally {
      await server.stop()
    }
    expect(await check()).toBe(1)
    expect(wordsInLast('HEALTHCHECK').join()).toContain(`:-${defaults.port}}`)
  })
})

describe('compose.yaml', () => {
  test('[C6] refuses to start without its secrets', () => {
    for (const name of Object.keys(FILLED))
      expect(() => composeWith({ ...FILLED, [name]: '' })).toThrow(`${name}: set `)
    const keySet = { ...FILLED, GREENDOT_JWT_SECRET: '', GREENDOT_JWKS_URL: 'https://id.test/keys' }
    expect(() => composeWith(keySet)).not.toThrow()
    const used = COMPOSE_FILES.flatMap((path) => matches(path, /\$\{(\w+)/g)).map((name) => [name, ''])
    expect(Object.fromEntries(used)).toEqual(variablesIn('example.env'))
  })

  test('[X8] services wait for services that can be waited for', () => {
    const waits = [...services].flatMap(([name, service]) =>
      entries(at(service, 'depends_on')).map(([other, how]) => ({ name, other, how: at(how, 'condition') })),
    )
    const impossible = waits.filter(({ other, how }) => {
      const target = services.get(other)
      if (how === 'service_completed_successfully') return at(target, 'restart') !== 'no'
      // Ours have the health check of their image, unless they switch it off.
      const own = at(target, 'healthcheck')
      const canBeHealthy = own === undefined ? at(target, 'image') === IMAGE : at(own, 'test') !== undefined
      return how !== 'service_healthy' || !canBeHealthy
    })
    expect([waits.length > 8, impossible]).toEqual([true, []])
    // Built once, for all.
    const builds = ours.map(([, service]) => at(service, 'build')).filter((build) => build !== undefined)
    expect(builds).toEqual([{ context: '..', dockerfile: 'deploy/Dockerfile' }])
  })

  test('[X8] networks, volumes, configurations and mounted files exist', () => {
    const missing = [...services.values()].flatMap((service) => {
      const mounts = words(at(service, 'volumes')).map((mount) => mount.split(':')[0]!)
      const named = [
        ...words(at(service, 'networks')).map((name) => `networks ${name}`),
        ...list(at(service, 'configs')).map((config) => `configs ${at(config, 'source')}`),
        ...mounts.filter((mount) => !mount.startsWith('.')).map((name) => `volumes ${name}`),
      ]
      const absent = mounts.filter((mount) => mount.startsWith('.') && !fs.existsSync(join(DEPLOY, mount)))
      return [...named.filter((keys) => at(compose, keys) === undefined), ...absent]
    })
    expect(missing).toEqual([])
  })

  test('[X8] only the proxy is open to the outside, and it knows every gateway', () => {
    const ports = [...services.values()].flatMap((service) => words(at(service, 'ports')))
    expect(ports).toEqual([`127.0.0.1:${defaults.port}:8080`])
    expect(at(compose, 'services proxy ports')).toEqual(ports)
    expect(matches('Caddyfile', /^\{\$SITE_ADDRESS:(:\d+)\} \{$/gm)).toEqual([':8080'])
    expect(matches('Caddyfile', /^\trespond (\S+) 404$/gm)).toEqual(['/metrics'])
    const gateways = ours.filter(([, service]) => commandOf(service) === 'gateway').map(([name]) => name)
    const addresses = gateways.map((name) => `${name}:${defaults.port}`).join(' ')
    expect(matches('Caddyfile', /^\tto \{\$GATEWAYS:(.*)\}$/gm)).toEqual([addresses])
    for (const name of ['redis', 'postgres']) expect(at(services.get(name), 'networks')).toEqual(['back'])
    expect(at(compose, 'networks back internal')).toBe(true)
  })

  test('[X8] with TLS, the proxy serves a domain and keeps its certificates', () => {
    expect(() => composeWith(FILLED, 'compose.tls.yaml')).toThrow('DOMAIN: set ')
    const secured = composeWith({ ...FILLED, DOMAIN: 'presence.test' }, 'compose.tls.yaml')
    expect(entries(at(secured, 'services')).map(([name]) => name)).toEqual(['proxy'])
    const proxy = at(secured, 'services proxy')
    expect(at(proxy, 'environment')).toEqual({ SITE_ADDRESS: 'presence.test' })
    expect(words(at(proxy, 'ports'))).toEqual(['80:80', '443:443', '443:443/udp'])
    const kept = words(at(proxy, 'volumes')).map((mount) => mount.split(':'))
    expect(kept).toEqual([['caddy', '/data']])
    expect(at(secured, 'volumes')).toHaveProperty('caddy')
    expect(words(at(proxy, 'tmpfs'))).not.toContain('/data')
  })

  test('[X8] every service has only fields that Compose knows', () => {
    const known = [
      ...['image', 'build', 'command', 'environment', 'ports', 'volumes', 'tmpfs', 'networks', 'configs'],
      ...['depends_on', 'healthcheck', 'restart', 'stop_grace_period', 'ulimits', 'sysctls'],
      ...['read_only', 'cap_drop', 'cap_add', 'security_opt'],
    ]
    const used = [...services.values()].flatMap((service) => entries(service).map(([key]) => key))
    expect(used.filter((key) => !known.includes(key))).toEqual([])
  })

  test('[X8] what runs our image writes nothing outside of its volume, which is in memory', () => {
    for (const [, service] of ours)
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], tmpfs: inLast('VOLUME') })
  })
})

describe('proxies', () => {
  test('[W1] keep connections that are silent for longer than clients and streams are', () => {
    const seconds = (text: string) =>
      Number.parseInt(text, 10) * { s: 1, m: 60, h: 3600, d: 86_400 }[text.at(-1)!]!
    const timeouts = matches('nginx.conf', /proxy_read_timeout (\w+);/g).map(seconds)
    expect(timeouts.length).toBe(2)
    // A client that hears nothing sends a heartbeat, and the server a comment into each stream.
    for (const one of timeouts) expect(one).toBeGreaterThan((2 * POLICIES.calm.heartbeatTtlMs) / 1000)
    expect(textOf('nginx.conf')).toMatch(/location = \/api\/v1\/stream \{[^}]*proxy_buffering off;/)
    expect(textOf('Caddyfile')).toContain('flush_interval -1')
  })

  test('[X8] pass on whom they speak for, and what the program listens on', () => {
    const headers = matches('nginx.conf', /proxy_set_header (\S+)/g)
    const forwarded = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host']
    expect(headers).toEqual(expect.arrayContaining(['Upgrade', 'Connection', 'Host', ...forwarded]))
    expect(matches('nginx.conf', /^ {4}server ([^;]+);$/gm)).toEqual([`127.0.0.1:${defaults.port}`])
    expect(matches('nginx.conf', /client_max_body_size (\d+)m;/g).map(Number)).toEqual([
      BODY_BYTES_MAX / 2 ** 20,
    ])
    expect(matches('Caddyfile', /Content-Length\}\) > (\d+)/g).map(Number)).toEqual([BODY_BYTES_MAX])
  })
})

describe('systemd', () => {
  test('[X8] the units are hardened, and differ only in what makes one an instance', () => {
    const keys = new Set(UNITS.flatMap((path) => matches(path, /^(\w+)=/gm)))
    const textsOf = (key: string) => UNITS.map((path) => directive(path, key).join(' '))
    const differing = [...keys].filter((key) => new Set(textsOf(key)).size > 1)
    const own = ['Description', 'EnvironmentFile', 'ExecStart', 'StateDirectory', 'WorkingDirectory']
    expect(differing.sort()).toEqual(own)
    const yes = ['NoNewPrivileges', 'DynamicUser', 'ProtectHome', 'PrivateTmp', 'PrivateDevices']
    const wanted = [
      ...yes.map((key) => [key, 'yes']),
      ['ProtectSystem', 'strict'],
      ['CapabilityBoundingSet', ''],
    ]
    expect(wanted.filter(([key, value]) => !keys.has(key!) || textsOf(key!)[0] !== value)).toEqual([])
    expect(Number(textsOf('LimitNOFILE')[0])).toBeGreaterThanOrEqual(65_536)
    // The engine compiles while it runs, and would not start.
    expect(keys).not.toContain('MemoryDenyWriteExecute')
    // Without a dash: no file, no start.
    for (const texts of textsOf('EnvironmentFile')) expect(texts).toMatch(/^\/etc\/greendot\/greendot\.env\b/)
  })

  const analyze = tool('systemd-analyze')
  test.skipIf(analyze.isMissing)(`[X8] systemd understands both units${analyze.note}`, () => {
    const units = ['greendot.service', ...rolesWithWork.map((role) => `greendot@${role}.service`)]
    for (const name of units) {
      // It wants the program to be there, and here it is not installed.
      const text = textOf(`systemd/${name.replace(/@.*\./, '@.')}`).replace(PROGRAM, process.execPath)
      fs.writeFileSync(join(folder, name), text)
    }
    const verified = run([analyze.path, 'verify', '--man=no', ...units.map((name) => `./${name}`)], folder)
    expect(verified).toEqual({ exitCode: 0, out: '', err: '' })
  })
})
