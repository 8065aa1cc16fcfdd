// Bundles one source into one script with its source map, as an ES module or for `require`, or into several that are
// loaded when they are needed. The maps carry the text of the sources, so a package ships none, and name them by their
// place in the repository, so two builds in two folders are the same bytes.
import { dirname, join, relative, resolve } from 'node:path'
import type { BuildConfig, BunPlugin } from 'bun'

export const ROOT = resolve(import.meta.dir, '../..')
const PACKAGES = join(ROOT, 'packages')

export interface ScriptOptions {
  source: string
  /** The script to write; its map lies beside it. */
  outfile: string
  format: 'esm' | 'cjs'
  target: 'browser' | 'bun'
  minify: NonNullable<BuildConfig['minify']>
  banner?: string
  external?: string[]
  /** Sources that are scripts of their own, with the name by which this one imports them. */
  separate?: ReadonlyMap<string, string>
  /** A folder beside the script for what it imports at run time. Without it, all that is part of the script. */
  partsFolder?: string
}

/** Returns the paths of all files that became part of the script. */
export async function writeScript(options: ScriptOptions): Promise<string[]> {
  const {
    source,
    outfile,
    format,
    target,
    minify,
    banner = '',
    external = [],
    separate,
    partsFolder,
  } = options
  const { outputs, metafile } = await Bun.build({
    entrypoints: [source],
    root: dirname(source),
    outdir: dirname(outfile),
    naming: {
      entry: relative(dirname(outfile), outfile),
      ...(partsFolder !== undefined && { chunk: `${partsFolder}/[name]-[hash].[ext]` }),
    },
    splitting: partsFolder !== undefined,
    minify,
    target,
    format,
    external,
    banner,
    metafile: true,
    sourcemap: 'linked',
    plugins: separate ? [separateFiles(source, separate)] : [],
  })
  if (partsFolder === undefined && outputs.length !== 2)
    throw new Error(`${source} became ${outputs.length} files, not a script and its map`)
  for (const { path } of outputs)
    await (path.endsWith('.map') ? nameSources(path, dirname(outfile)) : dropDebugId(path))
  return Object.keys(metafile!.inputs).map((path) => resolve(path))
}

function separateFiles(source: string, separate: ReadonlyMap<string, string>): BunPlugin {
  return {
    name: 'separate-files',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, importer }) => {
        const imported = resolve(dirname(importer), path)
        const script = imported === source ? undefined : separate.get(imported)
        return script === undefined ? undefined : { path: script, external: true }
      })
    },
  }
}

/** Maps of parts name their sources from the folder of the script too. */
async function nameSources(file: string, folder: string): Promise<void> {
  const map: { sources: string[]; debugId?: string } = await Bun.file(file).json()
  map.sources = map.sources.map((path) => {
    const place = resolve(folder, path)
    return relative(place.startsWith(`${PACKAGES}/`) ? PACKAGES : ROOT, place)
  })
  delete map.debugId
  await Bun.write(file, JSON.stringify(map))
}

/** The id serves trackers of errors that are given the maps. These maps are beside their scripts. */
async function dropDebugId(outfile: string): Promise<void> {
  const text = await Bun.file(outfile).text()
  await Bun.write(outfile, text.replace(/\n+\/\/# debugId=\w+(?=\n)/, ''))
}
