// Makes the page out of its sources. The compiler runs this as a macro (page-embedded.mts), and there Bun
// cannot bundle by itself: the bundler would wait for the macro and the macro for the bundler. Hence
// another process. Everything it returns is text, because the result becomes part of the program.
import { resolve } from 'node:path'

export interface PageSources {
  html: string
  script: string
  style: string
  /** `@greendot/client` for pages that are not bundled, and its worker. */
  client: string
  worker: string
}

export function bundlePage(): PageSources {
  const folder = resolve(import.meta.dir, '../../../../dashboard')
  const built = Bun.spawnSync([process.execPath, resolve(folder, 'build.ts')], { cwd: folder })
  if (!built.success) throw new Error(`the page cannot be built: ${built.stderr}`)
  return JSON.parse(built.stdout.toString())
}
