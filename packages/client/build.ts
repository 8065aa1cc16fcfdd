// Builds what is published: plain JavaScript with types, into a folder of its own with its own package.json.
// `bun packages/client/build.ts [folder]`. The core is one file; what is loaded later stays apart from it,
// and the worker has everything in itself, because it is started by its address.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const SOURCE = join(import.meta.dir, 'src')
const PROTOCOL = join(ROOT, 'packages/protocol/src')
const OUTSIDE = ['react', 'react/*']
/** Loaded by others of ours while running, and by nobody else. */
const LOADED_LATER = ['in-page', 'fallback']

interface Manifest {
  exports: Record<string, string>
  sideEffects: string[]
  [key: string]: unknown
}

export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const manifest: Manifest = JSON.parse(readFileSync(join(import.meta.dir, 'package.json'), 'utf8'))
  const sources = Object.values(manifest.exports).filter((path) => existsSync(join(import.meta.dir, path)))
  const names = [...sources.map(nameOf), ...LOADED_LATER]
  for (const name of names) await bundle(name, names, folder)
  await declare(
    sources.map((path) => join(import.meta.dir, path)),
    folder,
  )
  const exported = Object.entries(manifest.exports)
    .filter(([, path]) => sources.includes(path))
    .map(([entry, path]) => [entry, { types: `./${nameOf(path)}.d.ts`, default: `./${nameOf(path)}.js` }])
  const sideEffects = manifest.sideEffects.map((path) => `./${nameOf(path)}.js`)
  const published = { ...manifest, sideEffects, exports: Object.fromEntries(exported) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  for (const path of ['README.md', '../../LICENSE'])
    if (existsSync(join(import.meta.dir, path)))
      cpSync(join(import.meta.dir, path), join(folder, basename(path)))
}

const nameOf = (path: string): string => basename(path).replace(/\.tsx?$/, '')

/** One file, with imports of the other files left as they are. */
async function bundle(name: string, names: readonly string[], folder: string): Promise<void> {
  const entry = ['.ts', '.tsx'].map((end) => join(SOURCE, name + end)).find((path) => existsSync(path))!
  const built = await Bun.build({
    entrypoints: [entry],
    minify: true,
    target: 'browser',
    format: 'esm',
    external: OUTSIDE,
    // Frameworks that render on servers refuse hooks without it, and the bundler takes it for dead code.
    banner: name === 'react' ? "'use client'" : '',
    plugins: [
      {
        name: 'neighbours',
        setup({ onResolve }) {
          onResolve({ filter: /^\.\/[\w-]+\.tsx?$/ }, ({ path, importer }) => {
            const neighbour = nameOf(path)
            const isApart = name !== 'worker' && neighbour !== name && names.includes(neighbour)
            return isApart && importer !== '' ? { path: `./${neighbour}.js`, external: true } : undefined
          })
        },
      },
    ],
  })
  await Bun.write(join(folder, `${name}.js`), built.outputs[0]!)
}

/** Types of the entries and of all they need, the protocol included, with addresses that fit the folder. */
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
  const said = await new Response(tsc.stdout).text()
  if ((await tsc.exited) !== 0) throw new Error(`types could not be written\n${said}`)
  place(join(scratch, 'client/src'), folder, './protocol/index.js')
  place(join(scratch, 'protocol/src'), join(folder, 'protocol'), '@greendot/protocol')
  rmSync(scratch, { recursive: true })
}

function place(from: string, to: string, protocol: string): void {
  mkdirSync(to, { recursive: true })
  for (const file of readdirSync(from)) {
    const text = readFileSync(join(from, file), 'utf8')
      .replace(/(from |import\()(['"])@greendot\/protocol\2/g, `$1$2${protocol}$2`)
      .replace(/(from |import\()(['"])(\.\/[\w-]+)\.tsx?\2/g, '$1$2$3.js$2')
    writeFileSync(join(to, file), text)
  }
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(import.meta.dir, 'dist'))
  await buildClient(folder)
  console.log(`built ${readdirSync(folder).length} files in ${folder}`)
}
