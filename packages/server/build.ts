// Builds what is published as greendot: the program with its source maps, the page and the browser client inside, and the
// command that starts it. All dependencies are part of the program, except the runtime. What a server may do without
// (Redis, PostgreSQL, Kafka, gRPC, the page) is in scripts of its own, so that it takes no memory where it is not used.
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { licencesOf } from '../build/licences.ts'
import { emptyFolder, readManifest, writeManifest } from '../build/manifest.ts'
import { ROOT, writeScript } from '../build/scripts.ts'

const HOME = import.meta.dir
/** Part of the page, which reaches the script as text. */
const IN_PAGE = Bun.resolveSync('uplot', join(HOME, '../dashboard'))
const PARTS = 'parts'
const LICENCES = 'THIRD-PARTY-LICENCES.txt'

export async function buildServer(folder: string): Promise<void> {
  emptyFolder(folder)
  const files = await writeScript({
    source: join(HOME, 'src/cli.ts'),
    outfile: join(folder, 'greendot.js'),
    format: 'esm',
    target: 'bun',
    partsFolder: PARTS,
    // Names stay, so that stack traces in reports can be read.
    minify: { whitespace: true, syntax: true },
  })
  cpSync(join(HOME, 'bin'), join(folder, 'bin'), { recursive: true })
  writeFileSync(join(folder, LICENCES), licencesOf([...files, IN_PAGE]))
  const { dependencies } = readManifest(ROOT) as unknown as { dependencies: { bun: string } }
  writeManifest(HOME, folder, {
    bin: { greendot: 'bin/greendot.mjs' },
    exports: { './package.json': './package.json' },
    files: ['bin', PARTS, 'greendot.js', 'greendot.js.map', LICENCES],
    dependencies: { bun: dependencies.bun },
  })
}
