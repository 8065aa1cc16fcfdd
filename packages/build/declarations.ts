// Writes the type declarations of entry points, and of what these need, with paths that fit the published folder.
// Types of the protocol are copied beside those that use them, so a package needs no other one to be type-checked.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { ROOT } from './scripts.ts'

const PACKAGES = join(ROOT, 'packages')
const PROTOCOL = { name: '@greendot/protocol', entry: join(PACKAGES, 'protocol/src/index.ts') }
/** `from './a.ts'`, `import('./a.ts')` and `import './a.ts'`. */
const IMPORT = /(from |import\(|import )(['"])(\.\.?\/[\w./-]+|@greendot\/protocol)\2/g

/**
 * Writes them once, to `cjs`: `src` of the package becomes that folder, and the protocol its folder `protocol`. Modules
 * get entries that refer to these. A second copy would declare the same elements twice with different types.
 */
export async function writeDeclarations(src: string, entries: string[], folder: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'greendot-types-'))
  try {
    await compile([...entries, ...protocolSources()], scratch)
    const place = (source: string): string =>
      source.startsWith(src)
        ? relative(src, source)
        : join('protocol', relative(dirname(PROTOCOL.entry), source))
    for (const source of reachable(entries, scratch)) {
      const here = declarationOf(place(source))
      const text = readFileSync(compiled(source, scratch), 'utf8').replace(
        IMPORT,
        (_, before: string, quote: string, specifier: string) => {
          const to = place(targetOf(source, specifier)).replace(/\.ts$/, '.js')
          const path = relative(dirname(here), to)
          return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
        },
      )
      write(join(folder, 'cjs', here), text)
    }
    for (const entry of entries.map(place))
      write(join(folder, declarationOf(entry)), `export * from './cjs/${entry.replace(/\.ts$/, '.js')}'\n`)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/** All of them by name: what the compiler reaches through node_modules it does not write. */
const protocolSources = (): string[] =>
  readdirSync(dirname(PROTOCOL.entry))
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => join(dirname(PROTOCOL.entry), file))

const declarationOf = (source: string): string => source.replace(/\.ts$/, '.d.ts')
const compiled = (source: string, scratch: string): string =>
  join(scratch, declarationOf(relative(PACKAGES, source)))

const targetOf = (source: string, specifier: string): string =>
  specifier === PROTOCOL.name ? PROTOCOL.entry : join(dirname(source), specifier)

/** The entries and every source whose declaration is imported by one that is reachable. */
function reachable(entries: readonly string[], scratch: string): Set<string> {
  const found = new Set(entries)
  for (const source of found) {
    const text = readFileSync(compiled(source, scratch), 'utf8')
    for (const [, , , specifier] of text.matchAll(IMPORT)) found.add(targetOf(source, specifier!))
  }
  return found
}

async function compile(files: string[], scratch: string): Promise<void> {
  const options = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: PACKAGES,
      outDir: scratch,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: [],
    files,
  }
  const project = join(scratch, 'tsconfig.json')
  writeFileSync(project, JSON.stringify(options))
  const tsc = Bun.spawn([join(ROOT, 'node_modules/.bin/tsc'), '-p', project], { stdout: 'pipe' })
  const output = await new Response(tsc.stdout).text()
  if ((await tsc.exited) !== 0) throw new Error(`types could not be written\n${output}`)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
