// What is under deploy/, read as the tools there read it: the Dockerfile, the compose files, the manifests and the
// units. The tests compare it with the program.
import fs from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import { ROLES } from '../../packages/server/src/platform/config/settings.ts'
import { commandOf as commandWords, lastOf, parseDockerfile, textsOf } from '../image/dockerfile.ts'
import { at, entries, interpolate, list, parse, type Variables, words, type Yaml } from './deploy-yaml.ts'
import { ROOT } from './docs-text.ts'

export const DEPLOY = join(ROOT, 'deploy')
export const IMAGE = 'greendot'
export const PROGRAM = '/usr/local/bin/greendot'

export function configOf(env: Variables, role: string) {
  const isJob = role === 'migrate'
  const argv = isJob ? [] : [`--roles=${role}`]
  const loaded = loadConfig({ argv, env, readFile: () => null }, isJob ? 'optional' : 'required')
  if (!loaded.ok) throw new Error(`${role}: ${loaded.problem}`)
  return loaded.config
}
export const defaults = configOf({ GREENDOT_DEV: 'on' }, ROLES.join())
export const drainSeconds = defaults.drainMs / 1000

export const textOf = (path: string): string => fs.readFileSync(join(DEPLOY, path), 'utf8')
/** What is committed: files that people fill in themselves are not looked at. */
export const files = [...new Bun.Glob('**/*').scanSync({ cwd: DEPLOY, dot: true })]
  .filter((path) => !/(^|\/)(\.env|secrets\.env)$/.test(path))
  .sort()
export const matches = (path: string, pattern: RegExp): string[] =>
  Array.from(textOf(path).matchAll(pattern), (match) => match[1]!)

/** `NAME=value` lines, as Compose, systemd and kustomize read them. */
export const variablesIn = (path: string): Variables =>
  Object.fromEntries(Array.from(textOf(path).matchAll(/^([A-Z]\w*)=(.*)$/gm), (match) => match.slice(1)))

/** Roles that the program does something for. One without work is not deployed. */
const composition = fs.readFileSync(join(ROOT, 'packages/server/src/pipeline.ts'), 'utf8')
export const rolesWithWork = ROLES.filter((role) => composition.includes(`roles.includes('${role}')`))

export const FILLED = { POSTGRES_PASSWORD: 'p', REDIS_PASSWORD: 'r', GREENDOT_JWT_SECRET: 's'.repeat(32) }
export const COMPOSE_FILES = ['compose.yaml', 'compose.tls.yaml'] as const
export const composeWith = (env: Variables, path: string = 'compose.yaml') =>
  parse(interpolate(textOf(path), env))
export const compose = composeWith(FILLED)
export const services = new Map(entries(at(compose, 'services')))
export const ours = [...services].filter(([, service]) => at(service, 'image') === IMAGE)
export const commandOf = (service: Yaml) => words(at(service, 'command')).join(' ')

const manifests = files.filter((path) => /^kubernetes\/(?!kust).*yaml$/.test(path)).map(textOf)
export const objects = manifests.flatMap((text) => [parse(text)].flat())
export const ofKind = (kind: string) => objects.filter((object) => at(object, 'kind') === kind)
export const nameOf = (object: Yaml) => String(at(object, 'metadata name'))
export const kustomization = parse(textOf('kubernetes/kustomization.yaml'))
export const generators = list(at(kustomization, 'configMapGenerator'))
export const deployments = ofKind('Deployment')
export const workloads = [...deployments, ...ofKind('Job')]
export const templateOf = (workload: Yaml) => at(workload, 'spec template')
export const containerOf = (workload: Yaml) => at(templateOf(workload), 'spec containers 0')
export const roleOf = (workload: Yaml) => words(at(containerOf(workload), 'args')).join(' ')
export const PROBES = ['startupProbe', 'livenessProbe', 'readinessProbe']

const image = parseDockerfile(textOf('Dockerfile')).at(-1)!
/** The texts of an instruction in the last stage of the Dockerfile, which is the image. */
export const inLast = (name: string) => textsOf(image, name)
export const wordsInLast = (name: string): string[] => commandWords(lastOf(image, name))

/** A program that some machines have; `note` is for the title of a skipped test. */
export function tool(name: string) {
  const path = Bun.which(name)
  return { path: path ?? '', isMissing: path === null, note: path ? '' : ` (skipped: no ${name} here)` }
}

export function run(cmd: string[], cwd = ROOT) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(cmd, { cwd, stdin: 'ignore' })
  return { exitCode, out: stdout.toString(), err: stderr.toString() }
}
