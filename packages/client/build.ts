// Builds what is published: plain JavaScript with types, into a folder of its own with its own package.json.
// `bun packages/client/build.ts [folder]`. Each entry point becomes one file. What the core loads on demand, and
// what not every app needs of it, are files of their own; the worker is self-contained because it is started
// by its URL.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const PROTOCOL = join(ROOT, 'packages/protocol/src')
const PEERS = ['react', 'react/*']
/** Loaded by the core at run time; not exported by the package. */
const LOADED_LATER = ['./src/tabs/in-page.ts', './src/connection/fallback.ts', './src/settings/settings.ts']
/** Exported by the core from a file of its own, which bundlers leave out if it is not used. */
const BESIDE_THE_CORE = ['./src/last-seen.ts']

interface Manifest {
  exports: Record<string, string>
  sideEffects: string[]
  [key: string]: unknown
}

export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest: Manifest = JSON.parse(readFileSync(join(import.meta.dir, 'package.json'), 'utf8'))
  const entries = Object.values(manifest.exports).map(sourceAt)
  const sources = [...entries, ...[...LOADED_LATER, ...BESIDE_THE_CORE].map(sourceAt)]
  for (const source of sources) await bundle(source, sources, folder)
  await declare(entries, folder)
  const exported = Object.entries(manifest.exports).map(([entry, path]) => [
    entry,
    { types: `./${nameOf(path)}.d.ts`, default: `./${nameOf(path)}.js` },
  ])
  const sideEffects = manifest.sideEffects.map((path) => `./${nameOf(path)}.js`)
  const published = { ...manifest, sideEffects, exports: Object.fromEntries(exported) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  for (const path of ['README.md', '../../LICENSE'])
    cpSync(join(import.meta.dir, path), join(folder, basename(path)))
}

const sourceAt = (path: string): string => join(import.meta.dir, path)
const nameOf = (path: string): string => basename(path, '.ts')

/** One file. Imports of the other files stay imports, except in the worker. */
async function bundle(source: string, sources: readonly string[], folder: string): Promise<void> {
  const name = nameOf(source)
  const built = await Bun.build({
    entrypoints: [source],
    minify: true,
    target: 'browser',
    format: 'esm',
    external: PEERS,
    // Frameworks that render on servers refuse hooks without this directive, and the bundler drops it.
    banner: name === 'react' ? "'use client'" : '',
    plugins: [
      {
        name: 'separate-files',
        setup({ onResolve }) {
          onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, importer }) => {
            const imported = resolve(dirname(importer), path)
            const isSeparate = name !== 'worker' && imported !== source && sources.includes(imported)
            return isSeparate ? { path: `./${nameOf(imported)}.js`, external: true } : undefined
          })
        },
      },
    ],
  })
  await Bun.write(join(folder, `${name}.js`), built.outputs[0]!)
}

/** Types of the entry points and of all they need, the protocol included, with paths that fit the folder. */
async function declare(entries: readonly string[], folder: string): Promise<void> {
  const scratch = mkdtempSync(join(folder, 'types-'))
  const protocol = readdirSync(PROTOCOL)
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => join(PROTOCOL, file))
  const options = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(ROOT, 'packages'),
      outDir: scratch,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: [],
    files: [...entries, ...protocol],
  }
  const project = join(scratch, 'tsconfig.json')
  writeFileSync(project, JSON.stringify(options))
  const tsc = Bun.spawn([join(ROOT, 'node_modules/.bin/tsc'), '-p', project], { stdout: 'pipe' })
  const output = await new Response(tsc.stdout).text()
  if ((await tsc.exited) !== 0) throw new Error(`types could not be written\n${output}`)
  place(join(scratch, 'client/src'), folder, join(folder, 'protocol/index.js'))
  place(join(scratch, 'protocol/src'), join(folder, 'protocol'), join(folder, 'protocol/index.js'))
  rmSync(scratch, { recursive: true })
}

/** Copies declarations with their folders; imports of the protocol become relative. */
function place(from: string, to: string, protocol: string): void {
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue
    const target = join(to, file)
    const path = relative(dirname(target), protocol)
    const text = readFileSync(join(from, file), 'utf8')
      .replace(
        /(from |import\()(['"])@greendot\/protocol\2/g,
        `$1$2${path.startsWith('.') ? path : `./${path}`}$2`,
      )
      .replace(/(from |import\()(['"])(\.\.?\/[\w./-]+)\.ts\2/g, '$1$2$3.js$2')
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(import.meta.dir, 'dist'))
  await buildClient(folder)
  console.log(`built ${readdirSync(folder).length} files in ${folder}`)
}
