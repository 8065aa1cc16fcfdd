// Builds what is published as @greendot/protocol: one script with types and a source map for `import`, and the same
// for `require` in the folder cjs, and the .proto. It is here because the protocol imports nothing from outside its own folder.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { writeDeclarations } from './declarations.ts'
import { bothWays, emptyFolder, markCommonJs, writeManifest } from './manifest.ts'
import { ROOT, writeScript } from './scripts.ts'

const HOME = join(ROOT, 'packages/protocol')
/** The gRPC service, for code generators. */
const PROTO = 'proto/greendot/v1/presence.proto'
const ENTRY = join(HOME, 'src/index.ts')

export async function buildProtocol(folder: string): Promise<void> {
  emptyFolder(folder)
  const cjs = join(folder, 'cjs')
  markCommonJs(cjs)
  const common = { source: ENTRY, target: 'browser', minify: false } as const
  await writeScript({ ...common, outfile: join(folder, 'index.js'), format: 'esm' })
  await writeScript({ ...common, outfile: join(cjs, 'index.js'), format: 'cjs' })
  await writeDeclarations(join(HOME, 'src/'), [ENTRY], folder)
  cpSync(join(HOME, PROTO), join(folder, PROTO))
  writeManifest(HOME, folder, {
    sideEffects: false,
    main: './cjs/index.js',
    module: './index.js',
    types: './index.d.ts',
    exports: { '.': bothWays('index'), [`./${PROTO}`]: `./${PROTO}`, './package.json': './package.json' },
  })
}
