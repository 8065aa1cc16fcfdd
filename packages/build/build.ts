// `npm run build`: writes every published package, complete with its own package.json, to dist/packages. The folders
// can be packed and published as they are. Nothing in the repository runs from them.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { buildClient } from '../client/build.ts'
import { buildServer } from '../server/build.ts'
import { buildProtocol } from './protocol.ts'
import { ROOT } from './scripts.ts'

const BUILDS = { protocol: buildProtocol, client: buildClient, greendot: buildServer }

/** Returns the folder of each package. */
export async function buildPackages(folder: string): Promise<string[]> {
  const built = Object.entries(BUILDS).map(async ([name, build]) => {
    const home = join(folder, name)
    await build(home)
    return home
  })
  return Promise.all(built)
}

if (import.meta.main) {
  for (const folder of await buildPackages(join(ROOT, 'dist/packages'))) {
    const files = [...new Bun.Glob('**/*').scanSync({ cwd: folder })]
    const bytes = files.reduce((total, file) => total + statSync(join(folder, file)).size, 0)
    console.log(`${folder}: ${files.length} files, ${Math.round(bytes / 1024)} KB`)
  }
}
