// Empty projects outside of this repository, into which the packed packages are installed with npm, as an app does.
// What runs in them has the Node and npm of this machine on its path, and no Bun.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages } from '../../packages/build/build.ts'

const PROBE_MS_MAX = 20_000
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline']

export interface Workshop {
  /** The environment of every command: no Bun on the path. */
  env: Record<string, string>
  /** The packed packages, by their folder in dist/packages. */
  tarballs: { client: string; protocol: string; greendot: string }
  /** Makes a project with these files and packages; a package is a tarball or name@version. */
  install(name: string, packages: readonly string[], options?: InstallOptions): Promise<string>
  /** What the command prints; throws with all that it said when it fails. */
  run(project: string, ...command: string[]): Promise<string>
  remove(): void
}

export interface InstallOptions {
  /** A folder whose files are copied into the project. */
  fixtures?: string
  flags?: readonly string[]
}

/** Null when the registry of npm, or npm's cache, has this package; otherwise the reason. */
export async function missingRegistry(probe: string): Promise<string | null> {
  const child = Bun.spawn(['npm', 'view', probe, 'version', '--prefer-offline', '--fetch-retries=0'], {
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: PROBE_MS_MAX,
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) === 0) return null
  return `the registry of npm cannot be reached: ${/code (\w+)/.exec(said)?.[1] ?? 'no answer'}`
}

/** Builds and packs the packages. */
export async function openWorkshop(): Promise<Workshop> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-packages-'))
  const path = pathWithoutBun(join(folder, 'bin'))
  // Tests send nothing to anyone but the registry of npm.
  const env = { HOME: process.env.HOME ?? folder, PATH: path, NEXT_TELEMETRY_DISABLED: '1' }

  async function run(cwd: string, ...command: string[]): Promise<string> {
    const child = Bun.spawn(command, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed\n${output}\n${errors}`)
    return output
  }

  const built = await buildPackages(join(folder, 'built'))
  const pack = async (home: string) => join(home, (await run(home, 'npm', 'pack', '--silent')).trim())
  const [protocol, client, greendot] = (await Promise.all(built.map(pack))) as [string, string, string]
  return {
    env,
    tarballs: { client, protocol, greendot },
    run,
    async install(name, packages, { fixtures, flags = [] } = {}) {
      const project = join(folder, name)
      mkdirSync(project)
      if (fixtures) cpSync(fixtures, project, { recursive: true })
      writeFileSync(join(project, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }))
      await run(project, 'npm', 'install', ...QUIET, ...flags, ...packages)
      return project
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A folder with node, npm and npx alone, and the folders of the system that have no Bun. */
function pathWithoutBun(own: string): string {
  mkdirSync(own)
  for (const name of ['node', 'npm', 'npx']) symlinkSync(Bun.which(name)!, join(own, name))
  const system = ['/usr/bin', '/bin'].filter((place) => !existsSync(join(place, 'bun')))
  return [own, ...system].join(':')
}
