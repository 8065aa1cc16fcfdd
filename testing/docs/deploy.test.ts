// Holds what is under deploy/ against the program: a variable, a command, a port or a path that the
// program does not know fails here and not on somebody's cluster. No container engine is needed; where
// kubectl or systemd-analyze is installed, they are asked too.
import { afterAll, describe, expect, test } from 'bun:test'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { COMMANDS } from '../../packages/server/src/cli/commands.ts'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import {
  ROLES,
  SETTING_NAMES,
  SETTINGS,
  variableOf,
} from '../../packages/server/src/platform/config/settings.ts'
import { RUNTIME_FLAGS } from '../../packages/server/src/platform/runtime-flags.ts'
import { startServer } from '../clients/server.ts'
import { at, entries, interpolate, list, parse, type Variables, words, type Yaml } from './deploy-yaml.ts'

const ROOT = resolve(import.meta.dir, '../..')
const DEPLOY = join(ROOT, 'deploy')
const IMAGE = 'greendot'
const PROGRAM = '/usr/local/bin/greendot'

function configOf(env: Variables, role: string) {
  const isJob = role === 'migrate'
  const argv = isJob ? [] : [`--roles=${role}`]
  const loaded = loadConfig({ argv, env, readFile: () => null }, isJob ? 'optional' : 'required')
  if (!loaded.ok) throw new Error(`${role}: ${loaded.problem}`)
  return loaded.config
}
const defaults = configOf({ GREENDOT_DEV: 'on' }, ROLES.join())
const drainSeconds = defaults.drainMs / 1000

const textOf = (path: string): string => fs.readFileSync(join(DEPLOY, path), 'utf8')
/** What is committed: files that people fill in themselves are not looked at. */
const files = [...new Bun.Glob('**/*').scanSync({ cwd: DEPLOY, dot: true })]
  .filter((path) => !/(^|\/)(\.env|secrets\.env)$/.test(path))
  .sort()
const matches = (path: string, pattern: RegExp): string[] =>
  Array.from(textOf(path).matchAll(pattern), (match) => match[1]!)

/** `NAME=value` lines, as Compose, systemd and kustomize read them. */
const variablesIn = (path: string): Variables =>
  Object.fromEntries(Array.from(textOf(path).matchAll(/^([A-Z]\w*)=(.*)$/gm), (match) => match.slice(1)))

const FILLED = { POSTGRES_PASSWORD: 'p', REDIS_PASSWORD: 'r', GREENDOT_JWT_SECRET: 's'.repeat(32) }
const composeWith = (env: Variables) => parse(interpolate(textOf('compose.yaml'), env))
const compose = composeWith(FILLED)
const services = new Map(entries(at(compose, 'services')))
const ours = [...services].filter(([, service]) => at(service, 'image') === IMAGE)
const commandOf = (service: Yaml) => words(at(service, 'command')).join(' ')

const manifests = files.filter((path) => /^kubernetes\/(?!kust).*yaml$/.test(path)).map(textOf)
const objects = manifests.flatMap((text) => [parse(text)].flat())
const ofKind = (kind: string) => objects.filter((object) => at(object, 'kind') === kind)
const nameOf = (object: Yaml) => String(at(object, 'metadata name'))
const kustomization = parse(textOf('kubernetes/kustomization.yaml'))
const generators = list(at(kustomization, 'configMapGenerator'))
const deployments = ofKind('Deployment')
const workloads = [...deployments, ...ofKind('Job')]
const templateOf = (workload: Yaml) => at(workload, 'spec template')
const containerOf = (workload: Yaml) => at(templateOf(workload), 'spec containers 0')
const roleOf = (workload: Yaml) => words(at(containerOf(workload), 'args')).join(' ')
const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe']

/** The Dockerfile by stages; each begins with its FROM. */
const stages: { name: string; text: string }[][] = []
const dockerfile = textOf('Dockerfile').replace(/^#.*\n|\\\n/gm, '')
for (const [, name, text] of dockerfile.matchAll(/^([A-Z]+)\s+(.*)$/gm)) {
  if (name === 'FROM') stages.push([])
  stages.at(-1)!.push({ name: name!, text: text! })
}
const inLast = (name: string) => stages.at(-1)!.flatMap((one) => (one.name === name ? [one.text] : []))
const wordsInLast = (name: string): string[] => JSON.parse(/\[".*\]$/.exec(inLast(name).join())?.[0] ?? '')

const UNITS = ['systemd/greendot.service', 'systemd/greendot@.service'] as const
/** The values of a directive, in order. */
const directive = (path: string, key: string) => matches(path, new RegExp(`^${key}=(.*)$`, 'gm'))

function tool(name: string) {
  const path = Bun.which(name)
  return { path: path ?? '', isMissing: path === null, note: path ? '' : ` (skipped: no ${name} here)` }
}
function run(cmd: string[], cwd = ROOT) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(cmd, { cwd, stdin: 'ignore' })
  return { exitCode, out: stdout.toString(), err: stderr.toString() }
}
const folder = fs.mkdtempSync(join(tmpdir(), 'greendot-deploy-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

describe('what the files say to the program', () => {
  test('[X8] every variable is a setting', () => {
    const known = [...SETTING_NAMES.map(variableOf), 'GREENDOT_']
    const named = files.flatMap((path) => matches(path, /(GREENDOT_[A-Z0-9_]*)/g))
    expect(named).toContain('GREENDOT_REDIS_URL')
    expect(named.filter((variable) => !known.includes(variable))).toEqual([])
  })

  test('[C1] every role is run, and the program takes the settings it is given', () => {
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
    const all = [...ROLES, 'migrate'].sort()
    expect([...new Set(ours.map(([, service]) => commandOf(service)))].sort()).toEqual(all)
    expect(workloads.map(roleOf).sort()).toEqual(all)
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
    const named = [...written, ...wordsInLast('CMD'), ...ROLES, 'migrate']
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
    // A second SIGTERM means now, so nobody but the process that was started may get the first.
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

describe('the image', () => {
  const ignore = fs.readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/^[^#\n].*$/gm) ?? []
  /** The last line that speaks of a path, or of a folder around it, decides. */
  function reachesBuild(path: string): boolean {
    const around = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
    const speaks = (line: string) => around.some((part) => new Bun.Glob(line.replace('!', '')).match(part))
    return ignore.findLast(speaks)?.startsWith('!') ?? true
  }

  test('[X8] what it copies is there and reaches the build, and nothing private does', () => {
    const copies = stages.flat().filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
    const sources = copies.flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
    expect(sources).toContain('package-lock.json')
    expect(sources.filter((path) => !fs.existsSync(join(ROOT, path)) || !reachesBuild(path))).toEqual([])
    expect(reachesBuild('packages/server/src/cli.ts')).toBe(true)
    const kept = ['deploy/.env', 'packages/server/.env', 'data/greendot.db', '.git/config', 'node_modules/a']
    expect([...kept, 'packages/server/node_modules/a.js'].filter(reachesBuild)).toEqual([])
  })

  test('[X8] is one executable on a plain system, and not run by root', () => {
    const { scripts } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const builds = stages.flat().flatMap(({ text }) => /npm run (\S+)/.exec(text)?.[1] ?? [])
    const built = builds.map((name) => /--outfile (\S+)/.exec(scripts[name])?.[1])
    expect(inLast('COPY')).toContain(`--from=build /src/${built} ${PROGRAM}`)
    expect([...inLast('FROM'), ...inLast('RUN')].join()).not.toMatch(/npm|node|bun|curl/)
    expect(inLast('USER').join()).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect([inLast('EXPOSE'), inLast('STOPSIGNAL')]).toEqual([[String(defaults.port)], ['SIGTERM']])
  })

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
    const used = matches('compose.yaml', /\$\{(\w+)/g).map((name) => [name, ''])
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
    expect(matches('Caddyfile', /^(:\d+) \{$/gm)).toEqual([':8080'])
    expect(matches('Caddyfile', /^\trespond (\S+) 404$/gm)).toEqual(['/metrics'])
    const gateways = ours.filter(([, service]) => commandOf(service) === 'gateway').map(([name]) => name)
    const addresses = gateways.map((name) => `${name}:${defaults.port}`).join(' ')
    expect(matches('Caddyfile', /^\tto (.*)$/gm)).toEqual([addresses])
    for (const name of ['redis', 'postgres']) expect(at(services.get(name), 'networks')).toEqual(['back'])
    expect(at(compose, 'networks back internal')).toBe(true)
  })
})

describe('kubernetes', () => {
  test('[X8] the kustomization lists every file and nothing else', () => {
    const generated = generators.flatMap((one) => words(at(one, 'envs')))
    const listed = [...words(at(kustomization, 'resources')), ...generated, 'README.md', 'kustomization.yaml']
    const inBase = files.filter((path) => path.startsWith('kubernetes/'))
    expect(listed.map((path) => `kubernetes/${path}`).sort()).toEqual(inBase)
    expect(objects.filter((object) => at(object, 'metadata namespace') !== undefined)).toEqual([])
  })

  for (const workload of workloads) {
    test(`[X8, C6] the pods of ${nameOf(workload)} may do nothing but their work`, () => {
      const [user, group] = inLast('USER').join().split(':')
      // With service links the Services beside it become GREENDOT_ variables that are no settings.
      expect(at(templateOf(workload), 'spec')).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: Number(user), runAsGroup: Number(group) },
      })
      expect(containerOf(workload)).toMatchObject({
        image: IMAGE,
        resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
        securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      })
      expect(at(containerOf(workload), 'securityContext capabilities')).toEqual({ drop: ['ALL'] })
      expect(at(templateOf(workload), 'spec securityContext seccompProfile type')).toBe('RuntimeDefault')
      const isJob = at(workload, 'kind') === 'Job'
      const given = list(at(containerOf(workload), 'env'))
      const from = given.map((one) => at(one, 'valueFrom secretKeyRef'))
      const keys = from.map((one) => `${at(one, 'name')} ${at(one, 'key')}`)
      expect(keys).toEqual(given.map((one) => `greendot ${at(one, 'name')}`))
      const needed = from.filter((one) => at(one, 'optional') !== true).map((one) => at(one, 'key'))
      expect(needed).toEqual([...(isJob ? [] : ['GREENDOT_REDIS_URL']), 'GREENDOT_DATABASE_URL'])
      const maps = list(at(containerOf(workload), 'envFrom')).map((one) => at(one, 'configMapRef name'))
      expect(maps).toEqual(isJob ? [] : generators.map((one) => at(one, 'name')))
    })
  }

  test('[X8] ports and probes meet, and selectors find the pods they mean', () => {
    const podsOf = new Map(deployments.map((one) => [nameOf(one), at(templateOf(one), 'metadata labels')]))
    for (const one of deployments) {
      const labels = podsOf.get(nameOf(one))!
      expect(`greendot-${at(labels, 'app.kubernetes.io/component')}`).toBe(nameOf(one))
      expect(at(one, 'spec selector matchLabels')).toEqual(labels)
      expect(at(containerOf(one), 'ports')).toEqual([{ name: 'http', containerPort: defaults.port }])
      for (const probe of PROBES) expect(at(containerOf(one), `${probe} httpGet port`)).toBe('http')
      const spreads = list(at(templateOf(one), 'spec topologySpreadConstraints'))
      expect(spreads.map((spread) => at(spread, 'labelSelector matchLabels'))).toEqual([labels, labels])
    }
    for (const one of ofKind('Service')) {
      expect(at(one, 'spec selector')).toEqual(podsOf.get(nameOf(one))!)
      expect(at(one, 'spec ports')).toEqual([{ name: 'http', port: defaults.port, targetPort: 'http' }])
    }
    const budgets = ofKind('PodDisruptionBudget')
    expect(new Map(budgets.map((one) => [nameOf(one), at(one, 'spec selector matchLabels')]))).toEqual(podsOf)
    // A number of replicas beside an autoscaler would reset it with every apply.
    const scaled = ofKind('HorizontalPodAutoscaler').map((one) => at(one, 'spec scaleTargetRef name'))
    expect(scaled).toEqual(['greendot-gateway'])
    const fixed = deployments.filter((one) => at(one, 'spec replicas') !== undefined).map(nameOf)
    expect(fixed.sort()).toEqual(['greendot-fanout', 'greendot-presence'])
  })

  const kubectl = tool('kubectl')
  const renders = `[X8] kustomize renders the base, and the overlay of the README${kubectl.note}`
  test.skipIf(kubectl.isMissing)(renders, () => {
    fs.cpSync(join(DEPLOY, 'kubernetes'), join(folder, 'greendot/deploy/kubernetes'), { recursive: true })
    fs.mkdirSync(join(folder, 'mine'))
    const overlay = matches('kubernetes/README.md', /^```yaml\n([\s\S]*?)^```$/gm).join()
    fs.writeFileSync(join(folder, 'mine/kustomization.yaml'), overlay)
    const expected = { 'greendot/deploy/kubernetes': IMAGE, mine: 'registry.example.org/greendot:1' }
    for (const [place, image] of Object.entries(expected)) {
      const { exitCode, out, err } = run([kubectl.path, 'kustomize', place], folder)
      expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
      const rendered = list(parse(out))
      expect(rendered.length).toBe(objects.length + generators.length)
      const images = rendered.flatMap((one) => at(containerOf(one), 'image') ?? [])
      expect(images).toEqual(workloads.map(() => image))
    }
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
    const units = ['greendot.service', ...ROLES.map((role) => `greendot@${role}.service`)]
    for (const name of units) {
      // It wants the program to be there, and here it is not installed.
      const text = textOf(`systemd/${name.replace(/@.*\./, '@.')}`).replace(PROGRAM, process.execPath)
      fs.writeFileSync(join(folder, name), text)
    }
    const verified = run([analyze.path, 'verify', '--man=no', ...units.map((name) => `./${name}`)], folder)
    expect(verified).toEqual({ exitCode: 0, out: '', err: '' })
  })
})
