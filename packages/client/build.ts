// Builds what is published as @greendot/client: scripts with types and source maps for `import`, and the same for
// `require` in the folder cjs. `bun packages/client/build.ts [folder]`. As ES modules, what the core loads on demand,
// and what not every app needs of it, are files of their own. The worker is self-contained because it is started by
// its URL.
import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { writeDeclarations } from '../build/declarations.ts'
import {
  bothWays,
  emptyFolder,
  type Manifest,
  markCommonJs,
  readManifest,
  writeManifest,
} from '../build/manifest.ts'
import { writeScript } from '../build/scripts.ts'

interface ClientManifest extends Manifest {
  exports: Record<string, string>
  sideEffects: string[]
}

const HOME = import.meta.dir
const PEERS = ['react', 'react/*']
/** Loaded by the core at run time; not exported by the package. */
const LOADED_LATER = ['./src/tabs/in-page.ts', './src/connection/fallback.ts', './src/settings/settings.ts']
/** Exported by the core from a file of its own, which bundlers leave out if it is not used. */
const BESIDE_THE_CORE = ['./src/last-seen.ts']
/** Started by its URL and never imported, so it has no types and no form for `require`. */
const WORKER = 'worker'

const nameOf = (path: string): string => basename(path, '.ts')

export async function buildClient(folder: string): Promise<void> {
  emptyFolder(folder)
  const cjs = join(folder, 'cjs')
  markCommonJs(cjs)
  const manifest = readManifest<ClientManifest>(HOME)
  const entries = Object.values(manifest.exports).map((path) => resolve(HOME, path))
  const required = entries.filter((source) => nameOf(source) !== WORKER)
  const modules = [...entries, ...[...LOADED_LATER, ...BESIDE_THE_CORE].map((path) => resolve(HOME, path))]
  for (const source of modules) await bundle(source, 'esm', folder, modules)
  for (const source of required) await bundle(source, 'cjs', cjs, required)
  await writeDeclarations(join(HOME, 'src/'), required, folder)
  const exported = Object.entries(manifest.exports).map(([entry, path]) => {
    const name = nameOf(path)
    return [entry, name === WORKER ? `./${name}.js` : bothWays(name)]
  })
  writeManifest(HOME, folder, {
    sideEffects: manifest.sideEffects.flatMap((path) => {
      const name = nameOf(path)
      return name === WORKER ? [`./${name}.js`] : [`./${name}.js`, `./cjs/${name}.js`]
    }),
    main: './cjs/index.js',
    module: './index.js',
    types: './index.d.ts',
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
  })
}

/** Imports of the other scripts stay imports, except in the worker. */
async function bundle(
  source: string,
  format: 'esm' | 'cjs',
  folder: string,
  others: string[],
): Promise<void> {
  const name = nameOf(source)
  await writeScript({
    source,
    outfile: join(folder, `${name}.js`),
    format,
    target: 'browser',
    minify: true,
    external: PEERS,
    // Frameworks that render on servers refuse hooks without this directive, and the bundler drops it.
    banner: name === 'react' ? "'use client'" : '',
    separate: new Map(name === WORKER ? [] : others.map((other) => [other, `./${nameOf(other)}.js`])),
  })
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(HOME, 'dist'))
  await buildClient(folder)
  console.log(`built ${readdirSync(folder).length} files in ${folder}`)
}
