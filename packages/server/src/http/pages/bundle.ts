// Builds the page from its sources. The compiler runs this as a macro (embedded.mts). Bun cannot bundle
// inside a macro, because the bundler and the macro would wait for each other, so another process builds.
// The result is text only, because it becomes part of the program.
import { resolve } from 'node:path'

export interface PageSources {
  html: string
  script: string
  style: string
  /** `@greendot/client` for pages that are not bundled, its element, and its worker. */
  client: string
  element: string
  worker: string
}

export function bundlePage(): PageSources {
  const folder = resolve(import.meta.dir, '../../../../dashboard')
  const built = Bun.spawnSync([process.execPath, resolve(folder, 'build.ts')], { cwd: folder })
  if (!built.success) throw new Error(`the page cannot be built: ${built.stderr}`)
  return JSON.parse(built.stdout.toString())
}
