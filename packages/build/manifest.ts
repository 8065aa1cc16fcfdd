// The package.json of a published folder: the one of the workspace, without what only the workspace needs, with what
// is the same for all packages. The workspace keeps exports that name sources, so the repository needs no build.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { ROOT } from './scripts.ts'

export interface Manifest {
  name: string
  version: string
  description: string
  [field: string]: unknown
}

const FILES = ['**/*.js', '**/*.map', '**/*.d.ts', '**/*.proto', 'cjs/package.json']
const ONLY_HERE = ['private', 'exports', 'bin', 'dependencies', 'devDependencies']

export const readManifest = <M extends Manifest>(home: string): M =>
  JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))

export function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
}

/** Writes package.json, and copies the README of the package and the licence. */
export function writeManifest(home: string, folder: string, fields: Record<string, unknown>): void {
  const { engines, repository, ...root } = readManifest(ROOT) as Manifest & { repository: object }
  const kept = Object.entries(readManifest(home)).filter(([field]) => !ONLY_HERE.includes(field))
  const manifest = {
    ...Object.fromEntries(kept),
    homepage: root.homepage,
    bugs: root.bugs,
    repository: { ...repository, directory: relative(ROOT, home) },
    engines,
    files: FILES,
    ...fields,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const path of [join(home, 'README.md'), join(ROOT, 'LICENSE')])
    cpSync(path, join(folder, basename(path)))
}

/** What an entry point is for `import` and for `require`. `cjs/` has a package.json that says what its scripts are. */
export const bothWays = (name: string): object => ({
  import: { types: `./${name}.d.ts`, default: `./${name}.js` },
  require: { types: `./cjs/${name}.d.ts`, default: `./cjs/${name}.js` },
})

export function markCommonJs(folder: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
}
