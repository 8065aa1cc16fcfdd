// Holds what is under deploy/ against the program: a variable, a command, a port or a path that the
// program does not know fails here and not on somebody's cluster. No container engine is needed; where
// kubectl or systemd-analyze is installed, they are asked too.
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { COMMANDS } from '../packages/server/src/cli/commands.ts'
import {
  ROLES,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  variableOf,
} from '../packages/server/src/platform/settings.ts'
import { startServer } from './server.ts'

const ROOT = resolve(import.meta.dir, '..')
const DEPLOY = join(ROOT, 'deploy')
const PORT = String(SETTINGS.port.fallback.from === 'value' ? SETTINGS.port.fallback.value : '')
const DRAIN_SECONDS =
  SETTINGS.drain_ms.fallback.from === 'value' ? SETTINGS.drain_ms.fallback.value / 1000 : NaN
const IMAGE = 'greendot'

const textOf = (path: string): string => readFileSync(join(DEPLOY, path), 'utf8')
const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== '.env' && entry.name !== 'secrets.env')
  .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length + 1))
  .sort()

type Yaml = { [key: string]: Yaml } | Yaml[] | string | number | boolean | null

/** Follows keys into a document; undefined where they lead nowhere. */
function at(node: Yaml | undefined, ...keys: (string | number)[]): Yaml | undefined {
  const [key, ...rest] = keys
  if (key === undefined || node === undefined) return node
  if (node === null || typeof node !== 'object') return undefined
  return at((node as Record<string, Yaml>)[key], ...rest)
}
const entries = (node: Yaml | undefined): [string, Yaml][] =>
  node === null || node === undefined || typeof node !== 'object' ? [] : Object.entries(node)
const list = (node: Yaml | undefined): Yaml[] => entries(node).map(([, value]) => value)
const words = (node: Yaml | undefined): string[] => list(node).map(String)

/** `NAME=value` lines, as Compose, systemd and kustomize read them. */
const variablesIn = (path: string): [string, string][] =>
  Array.from(textOf(path).matchAll(/^([A-Z]\w*)=(.*)$/gm), ([, name, value]) => [name!, value!])

/** What Compose makes of `${NAME:-default}` and `${NAME:?message}`; throws where Compose refuses. */
function interpolate(text: string, env: Record<string, string>): string {
  const start = text.indexOf('${')
  if (start < 0) return text
  let end = start + 2
  for (let depth = 1; depth > 0; end++) {
    if (end >= text.length) throw new Error('a ${ is never closed')
    if (text.startsWith('${', end)) depth++
    else if (text[end] === '}') depth--
  }
  const [, name, sign, other = ''] = /^(\w+)(?::([-?])(.*))?$/s.exec(text.slice(start + 2, end - 1)) ?? []
  if (name === undefined) throw new Error(`not understood: ${text.slice(start, end)}`)
  if (!env[name] && sign === '?') throw new Error(`${name}: ${other}`)
  const value = env[name] || interpolate(other, env)
  return text.slice(0, start) + value + interpolate(text.slice(end), env)
}

const FILLED = { POSTGRES_PASSWORD: 'p', REDIS_PASSWORD: 'r', GREENDOT_JWT_SECRET: 's'.repeat(32) }
const composeWith = (env: Record<string, string>) =>
  Bun.YAML.parse(interpolate(textOf('compose.yaml'), env)) as Yaml
const compose = composeWith(FILLED)
const services = new Map(entries(at(compose, 'services')))
const ours = [...services].filter(([, service]) => at(service, 'image') === IMAGE)

const manifests = files.filter((path) => /^kubernetes\/(?!kustomization).*\.yaml$/.test(path))
const objects = manifests.flatMap((path) => [Bun.YAML.parse(textOf(path)) as Yaml].flat())
const ofKind = (kind: string) => objects.filter((object) => at(object, 'kind') === kind)
const nameOf = (object: Yaml) => String(at(object, 'metadata', 'name'))
const kustomization = Bun.YAML.parse(textOf('kubernetes/kustomization.yaml')) as Yaml
const workloads = [...ofKind('Deployment'), ...ofKind('Job')]
const podOf = (workload: Yaml) => at(workload, 'spec', 'template', 'spec')
const containerOf = (workload: Yaml) => at(podOf(workload), 'containers', 0)
const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe']

interface Instruction {
  name: string
  text: string
}
/** The Dockerfile by stages; each begins with its FROM. */
const stages: Instruction[][] = []
for (const line of textOf('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')) {
  const [, name, text] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
  if (name === 'FROM') stages.push([])
  if (name !== undefined) stages.at(-1)!.push({ name, text: text! })
}
const lastStage = stages.at(-1)!
const inLast = (name: string) => lastStage.filter((one) => one.name === name).map((one) => one.text)
const healthcheck: string[] = JSON.parse(/CMD (\[.*\])$/.exec(inLast('HEALTHCHECK')[0] ?? '')?.[1] ?? '[]')

/** The directives of a unit; one that is given twice has two values. */
function unit(path: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [, key, value] of textOf(path).matchAll(/^(\w+)=(.*)$/gm)) {
    found.set(key!, [...(found.get(key!) ?? []), value!])
  }
  return found
}
const UNITS = ['systemd/greendot.service', 'systemd/greendot@.service']

function tool(name: string): { path: string | null; note: string } {
  const path = Bun.which(name)
  return { path, note: path === null ? ` (skipped: no ${name} on this machine)` : '' }
}
function run(cmd: string[], cwd = ROOT, env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(cmd, {
    cwd,
    env: { ...process.env, ...env },
    stdin: 'ignore',
  })
  return { exitCode, out: stdout.toString(), err: stderr.toString() }
}

describe('what the files say to the program', () => {
  test('[X8] every GREENDOT_ variable is a setting', () => {
    const known = new Set(SETTING_NAMES.map(variableOf))
    const named = files.flatMap((path) =>
      Array.from(textOf(path).matchAll(/GREENDOT_[A-Z0-9_]+/g), ([variable]) => ({ path, variable })),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ variable }) => !known.has(variable))).toEqual([])
  })

  test('[X8] every value given to a setting is one that it takes', () => {
    const given = [
      ...ours.flatMap(([, service]) => entries(at(service, 'environment'))),
      ...variablesIn('kubernetes/settings.env'),
      ...inLast('ENV').map((text) => text.split('=') as [string, string]),
    ].filter(([, value]) => value !== '')
    expect(given.map(([name]) => name)).toContain('GREENDOT_REDIS_URL')
    for (const [variable, value] of given) {
      const setting: Setting<unknown> | undefined =
        SETTINGS[SETTING_NAMES.find((name) => variableOf(name) === variable)!]
      expect({ variable, parsed: setting?.kind.parse(String(value)) }).not.toEqual({
        variable,
        parsed: undefined,
      })
    }
  })

  test('[C1] every command exists, and every role is run', () => {
    const inCompose = ours.map(([, service]) => words(at(service, 'command')).join(' '))
    const inKubernetes = workloads.map((workload) => words(at(containerOf(workload), 'args')).join(' '))
    for (const all of [inCompose, inKubernetes]) expect(new Set(all)).toEqual(new Set([...ROLES, 'migrate']))
    const started = UNITS.flatMap((path) => unit(path).get('ExecStart') ?? [])
    expect(started).toEqual(['/usr/local/bin/greendot serve', '/usr/local/bin/greendot %i'])
    const written = files.flatMap((path) =>
      Array.from(textOf(path).matchAll(/(?:`|bin\/|-- )greendot\s+([a-z]+)/g), ([, command]) => command!),
    )
    const image: string[] = JSON.parse(inLast('CMD')[0]!)
    const commands = COMMANDS.map(({ name }) => name)
    for (const command of [...inCompose, ...inKubernetes, ...written, ...image])
      expect(commands).toContain(command)
    expect(JSON.parse(inLast('ENTRYPOINT')[0]!)).toEqual(['/usr/local/bin/greendot'])
  })

  test('[X8] every path that is asked for health or numbers answers 200', async () => {
    const asked = new Set([
      ...ofKind('Deployment').flatMap((one) =>
        PROBES.map((probe) => at(containerOf(one), probe, 'httpGet', 'path')),
      ),
      ...ofKind('Deployment').map((one) =>
        at(one, 'spec', 'template', 'metadata', 'annotations', 'prometheus.io/path'),
      ),
      /health_uri (\S+)/.exec(textOf('Caddyfile'))?.[1],
    ])
    expect(asked).toEqual(new Set(['/healthz', '/readyz', '/metrics']))
    const server = await startServer()
    try {
      for (const path of asked)
        expect({ path, status: (await fetch(server.url + path)).status }).toEqual({ path, status: 200 })
    } finally {
      await server.stop()
    }
  })

  test('[X2] whatever stops the program waits longer than it drains', () => {
    const roles = ours.filter(([, service]) => !words(at(service, 'command')).includes('migrate'))
    const graces = roles.map(([, service]) =>
      Number(/^(\d+)s$/.exec(String(at(service, 'stop_grace_period')))?.[1]),
    )
    const stops = UNITS.map((path) => Number(unit(path).get('TimeoutStopSec')?.[0]))
    const kubernetes = Number(new Map(variablesIn('kubernetes/settings.env')).get('GREENDOT_DRAIN_MS')) / 1000
    const pods = ofKind('Deployment').map((one) => {
      const sleep = Number(at(containerOf(one), 'lifecycle', 'preStop', 'sleep', 'seconds'))
      return Number(at(podOf(one), 'terminationGracePeriodSeconds')) - sleep - kubernetes + DRAIN_SECONDS
    })
    expect([graces.length, pods.length]).toEqual([4, 3])
    for (const seconds of [...graces, ...stops, ...pods])
      expect(seconds).toBeGreaterThanOrEqual(DRAIN_SECONDS + 10)
  })

  test('[C6] no file holds a secret', () => {
    const secret = (name: string) =>
      /PASSWORD|SECRET|KEYS|_URL$/.test(name) ||
      SETTING_NAMES.some((setting) => SETTINGS[setting].secret && variableOf(setting) === name)
    const examples = files.filter((path) => path.endsWith('.env')).flatMap(variablesIn)
    expect(examples.filter(([name, value]) => secret(name) && value !== '')).toEqual([])
    expect(examples.map(([name]) => name)).toContain('GREENDOT_JWT_SECRET')
    expect(ofKind('Secret')).toEqual([])
    expect(at(kustomization, 'secretGenerator')).toBeUndefined()
    for (const path of files) {
      // Only a variable or the word itself may stand where a password would.
      const passwords = Array.from(
        textOf(path).matchAll(/:\/\/[^\s:@/]*:([^\s@/]+)@/g),
        ([, password]) => password!,
      )
      expect(passwords.filter((one) => !one.startsWith('${') && one !== 'password')).toEqual([])
    }
    for (const path of ['.env', 'kubernetes/secrets.env']) {
      expect({ path, ...run(['git', 'check-ignore', '--no-index', '-q', `deploy/${path}`]) }).toMatchObject({
        exitCode: 0,
      })
    }
  })
})

describe('the image', () => {
  const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line))
  /** The last line that speaks of a path or of a folder around it decides. */
  function reachesBuild(path: string): boolean {
    const around = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
    const decides = (line: string) => around.some((part) => new Bun.Glob(line.replace(/^!/, '')).match(part))
    return ignore.findLast(decides)?.startsWith('!') ?? true
  }

  test('[X8] everything it copies is there and reaches the build, and nothing private does', () => {
    const copies = stages.flat().filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
    const sources = copies.flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
    expect(sources).toContain('package-lock.json')
    for (const path of sources) {
      expect({ path, exists: existsSync(join(ROOT, path)), sent: reachesBuild(path) }).toEqual({
        path,
        exists: true,
        sent: true,
      })
    }
    expect(reachesBuild('packages/server/src/cli.ts')).toBe(true)
    const kept = [
      'deploy/.env',
      'packages/server/.env',
      'data/greendot.db',
      '.git/config',
      'packages/server/node_modules/a.js',
    ]
    expect(kept.filter(reachesBuild)).toEqual([])
  })

  test('[X8] is one executable, run by nobody in particular', () => {
    const scripts: Record<string, string> = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ).scripts
    const builds = stages
      .flat()
      .flatMap(({ text }) => Array.from(text.matchAll(/npm run (\S+)/g), ([, name]) => scripts[name!]))
    const built = /--outfile (\S+)/.exec(builds.join())?.[1]
    expect(inLast('COPY')).toContain(`--from=build /src/${built} /usr/local/bin/greendot`)
    expect(inLast('FROM')[0]).not.toMatch(/node|bun/)
    expect(inLast('RUN').join()).not.toMatch(/npm|node|curl/)
    const [user = '0', group = '0'] = inLast('USER').at(-1)?.split(':') ?? []
    expect([Number(user) > 0, Number(group) > 0]).toEqual([true, true])
    expect([inLast('EXPOSE'), inLast('STOPSIGNAL')]).toEqual([[PORT], ['SIGTERM']])
  })

  const bash = tool('bash')
  test.skipIf(bash.path === null)(
    `[X8] its health check tells a server from silence${bash.note}`,
    async () => {
      const server = await startServer()
      const env = { GREENDOT_PORT: new URL(server.url).port }
      const check = async () =>
        Bun.spawn(healthcheck, {
          env: { PATH: process.env.PATH ?? '', ...env },
          stdio: ['ignore', 'ignore', 'ignore'],
        }).exited
      try {
        expect(await check()).toBe(0)
      } finally {
        await server.stop()
      }
      expect(await check()).not.toBe(0)
      expect(healthcheck.join()).toContain(`:-${PORT}}`)
    },
  )
})

describe('compose.yaml', () => {
  test('[C6] refuses to start without its secrets', () => {
    expect(() => composeWith(Object.fromEntries(variablesIn('example.env')))).toThrow(
      /^GREENDOT_JWT_SECRET: set/,
    )
    for (const name of Object.keys(FILLED)) expect(() => composeWith({ ...FILLED, [name]: '' })).toThrow(name)
    expect(() =>
      composeWith({ ...FILLED, GREENDOT_JWT_SECRET: '', GREENDOT_JWKS_URL: 'https://id.test' }),
    ).not.toThrow()
    const used = Array.from(textOf('compose.yaml').matchAll(/\$\{(\w+)/g), ([, name]) => name!)
    expect(new Set(used)).toEqual(new Set(variablesIn('example.env').map(([name]) => name)))
  })

  test('[X8] services wait for services that can be waited for', () => {
    for (const [name, service] of services) {
      for (const [other, how] of entries(at(service, 'depends_on'))) {
        const target = services.get(other)
        const own = at(target, 'healthcheck')
        const healthy = own === undefined ? at(target, 'image') === IMAGE : at(own, 'test') !== undefined
        const possible = {
          service_healthy: healthy,
          service_completed_successfully: at(target, 'restart') === 'no',
        }
        expect({ name, other, ok: possible[at(how, 'condition') as keyof typeof possible] }).toEqual({
          name,
          other,
          ok: true,
        })
      }
    }
    const builders = ours
      .filter(([, service]) => at(service, 'build') !== undefined)
      .map(([, service]) => at(service, 'build'))
    expect(builders).toEqual([{ context: '..', dockerfile: 'deploy/Dockerfile' }])
  })

  test('[X8] networks, volumes, configurations and mounted files exist', () => {
    const has = (section: string, name: string) =>
      entries(at(compose, section)).some(([known]) => known === name)
    for (const service of services.values()) {
      for (const network of words(at(service, 'networks')))
        expect([network, has('networks', network)]).toEqual([network, true])
      for (const config of list(at(service, 'configs')))
        expect(has('configs', String(at(config, 'source')))).toBe(true)
      for (const mount of words(at(service, 'volumes'))) {
        const source = mount.split(':')[0]!
        expect([
          source,
          source.startsWith('.') ? existsSync(join(DEPLOY, source)) : has('volumes', source),
        ]).toEqual([source, true])
      }
    }
  })

  test('[X8] only the proxy is open to the outside, and it knows every gateway', () => {
    const published = [...services].filter(([, service]) => at(service, 'ports') !== undefined)
    expect(published.map(([name, service]) => [name, words(at(service, 'ports'))])).toEqual([
      ['proxy', [`127.0.0.1:${PORT}:8080`]],
    ])
    const caddyfile = textOf('Caddyfile')
    const gateways = ours
      .filter(([, service]) => words(at(service, 'command')).includes('gateway'))
      .map(([name]) => name)
    expect(/reverse_proxy ([^{]*)/.exec(caddyfile)?.[1]?.trim().split(' ')).toEqual(
      gateways.map((name) => `${name}:${PORT}`),
    )
    expect(caddyfile).toMatch(/^:8080 \{$/m)
    for (const name of ['redis', 'postgres'])
      expect(words(at(services.get(name), 'networks'))).toEqual(['back'])
    expect(at(compose, 'networks', 'back', 'internal')).toBe(true)
  })
})

describe('kubernetes', () => {
  test('[X8] the kustomization lists every file and nothing else', () => {
    const generated = list(at(kustomization, 'configMapGenerator')).flatMap((one) => words(at(one, 'envs')))
    const listed = [...words(at(kustomization, 'resources')), ...generated].map(
      (path) => `kubernetes/${path}`,
    )
    const present = files.filter((path) => /^kubernetes\/(?!kustomization|README)/.test(path))
    expect(listed.sort()).toEqual(present)
    for (const object of objects)
      expect([nameOf(object), at(object, 'metadata', 'namespace')]).toEqual([nameOf(object), undefined])
  })

  for (const workload of workloads) {
    test(`[X8] the pods of ${nameOf(workload)} may do nothing but their work`, () => {
      const [pod, container] = [podOf(workload), containerOf(workload)]
      expect(pod).toMatchObject({
        // With service links the Services beside it become GREENDOT_ variables that are no settings.
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      expect(`${at(pod, 'securityContext', 'runAsUser')}:${at(pod, 'securityContext', 'runAsGroup')}`).toBe(
        inLast('USER')[0]!,
      )
      expect(at(container, 'securityContext')).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect([list(at(pod, 'containers')).length, at(container, 'image')]).toEqual([1, IMAGE])
      for (const path of ['requests', 'limits'])
        expect(at(container, 'resources', path, 'memory')).toMatch(/^\d+[MG]i$/)
    })

    test(`[C6] ${nameOf(workload)} takes its secrets from the Secret and cannot go without its stores`, () => {
      const references = list(at(containerOf(workload), 'env')).map((one) => ({
        name: at(one, 'name'),
        ...(at(one, 'valueFrom', 'secretKeyRef') as Record<string, Yaml>),
        value: at(one, 'value'),
      }))
      for (const { name, ...from } of references) expect(from).toMatchObject({ key: name!, value: undefined })
      const required = references.filter((one) => !('optional' in one)).map(({ key }) => key)
      const stores = ['GREENDOT_REDIS_URL', 'GREENDOT_DATABASE_URL']
      expect(required).toEqual(at(workload, 'kind') === 'Job' ? stores.slice(1) : stores)
      const maps = list(at(containerOf(workload), 'envFrom')).map((one) => at(one, 'configMapRef', 'name'))
      const generated = list(at(kustomization, 'configMapGenerator')).map((one) => at(one, 'name'))
      expect(maps).toEqual(at(workload, 'kind') === 'Job' ? [] : generated)
    })
  }

  test('[X8] ports and probes meet, and selectors find the pods they mean', () => {
    const roleOf = (object: Yaml) => at(object, 'metadata', 'labels', 'app.kubernetes.io/component')
    for (const one of ofKind('Deployment')) {
      expect(at(containerOf(one), 'ports')).toEqual([{ name: 'http', containerPort: Number(PORT) }])
      for (const probe of PROBES) expect(at(containerOf(one), probe, 'httpGet', 'port')).toBe('http')
      const labels = at(one, 'spec', 'template', 'metadata', 'labels')
      expect(at(one, 'spec', 'selector', 'matchLabels')).toEqual(labels!)
      expect([nameOf(one), roleOf(one)]).toEqual([
        `greendot-${words(at(containerOf(one), 'args'))}`,
        words(at(containerOf(one), 'args'))[0],
      ])
      for (const spread of list(at(podOf(one), 'topologySpreadConstraints')))
        expect(at(spread, 'labelSelector', 'matchLabels')).toEqual(labels!)
      expect(
        ofKind('PodDisruptionBudget').filter((budget) =>
          Bun.deepEquals(at(budget, 'spec', 'selector', 'matchLabels'), labels),
        ).length,
      ).toBe(1)
    }
    const pods = ofKind('Deployment').map((one) =>
      JSON.stringify(at(one, 'spec', 'template', 'metadata', 'labels')),
    )
    expect(ofKind('Service').map((one) => roleOf(one))).toEqual(['gateway', 'presence'])
    for (const one of ofKind('Service')) {
      expect(pods).toContain(JSON.stringify(at(one, 'spec', 'selector')))
      expect(at(one, 'spec', 'ports')).toEqual([{ name: 'http', port: Number(PORT), targetPort: 'http' }])
    }
    const [scaler] = ofKind('HorizontalPodAutoscaler')
    const scaled = ofKind('Deployment').find(
      (one) => nameOf(one) === at(scaler, 'spec', 'scaleTargetRef', 'name'),
    )
    expect([roleOf(scaled!), at(scaled, 'spec', 'replicas')]).toEqual(['gateway', undefined])
  })

  const kubectl = tool('kubectl')
  test.skipIf(kubectl.path === null)(
    `[X8] kustomize renders the base and the overlay of the README${kubectl.note}`,
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'greendot-deploy-'))
      try {
        cpSync(DEPLOY, join(folder, 'greendot/deploy'), { recursive: true })
        const overlay = /^```yaml\n([\s\S]*?)^```$/m.exec(textOf('kubernetes/README.md'))?.[1] ?? ''
        cpSync(join(DEPLOY, 'kubernetes'), join(folder, 'base'), { recursive: true })
        run(['mkdir', 'mine'], folder)
        writeFileSync(join(folder, 'mine/kustomization.yaml'), overlay)
        for (const [place, image] of [
          ['base', IMAGE],
          ['mine', 'registry.example.org/greendot:1'],
        ] as const) {
          const { exitCode, out, err } = run([kubectl.path!, 'kustomize', place], folder)
          expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
          const rendered = Bun.YAML.parse(out) as Yaml[]
          expect(rendered.length).toBe(objects.length + 1)
          const images = rendered
            .map((one) => at(containerOf(one), 'image'))
            .filter((one) => one !== undefined)
          expect(new Set(images)).toEqual(new Set([image]))
        }
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )
})

describe('systemd', () => {
  test('[X8] the units differ only in what makes one an instance', () => {
    const [one, instance] = UNITS.map(unit) as [Map<string, string[]>, Map<string, string[]>]
    const differing = [...new Set([...one.keys(), ...instance.keys()])].filter(
      (key) => !Bun.deepEquals(one.get(key), instance.get(key)),
    )
    expect(differing.sort()).toEqual([
      'Description',
      'EnvironmentFile',
      'ExecStart',
      'StateDirectory',
      'WorkingDirectory',
    ])
    for (const directives of [one, instance]) {
      expect(directives.get('EnvironmentFile')?.[0]).toBe('/etc/greendot/greendot.env')
      expect(Number(directives.get('LimitNOFILE')?.[0])).toBeGreaterThanOrEqual(65_536)
      for (const key of ['NoNewPrivileges', 'DynamicUser', 'ProtectHome', 'PrivateTmp'])
        expect([key, directives.get(key)]).toEqual([key, ['yes']])
      expect([directives.get('ProtectSystem'), directives.get('CapabilityBoundingSet')]).toEqual([
        ['strict'],
        [''],
      ])
      // The engine compiles while it runs, and would not start.
      expect(directives.has('MemoryDenyWriteExecute')).toBe(false)
    }
  })

  const analyze = tool('systemd-analyze')
  test.skipIf(analyze.path === null)(`[X8] systemd understands both units${analyze.note}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'greendot-deploy-'))
    try {
      const names = ['greendot.service', ...ROLES.map((role) => `greendot@${role}.service`)]
      for (const name of names) {
        const text = textOf(`systemd/${name.replace(/@.*\./, '@.')}`)
        // It wants the program to exist, which is installed by whoever installs the unit.
        writeFileSync(join(folder, name), text.replace('/usr/local/bin/greendot', process.execPath))
      }
      const verified = run([analyze.path!, 'verify', '--man=no', ...names.map((name) => `./${name}`)], folder)
      expect(verified).toEqual({ exitCode: 0, out: '', err: '' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
