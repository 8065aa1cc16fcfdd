// Bundles the page and the client for browsers and prints them as JSON. It runs as a separate program: the
// server starts it at the first request for the page, and the compiler when it makes the executable (see
// http/pages/bundle.ts in the server). Nothing is written to disk, so no generated file can be stale.
import { resolve } from 'node:path'

const here = import.meta.dir
const client = resolve(here, '../client/src')

/** The single output of a bundle; dynamic imports are included. */
async function bundle(entry: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    format: 'esm',
    minify: true,
  })
  if (outputs.length !== 1) throw new Error(`${entry} became ${outputs.length} files`)
  return outputs[0]!.text()
}

const [html, script, style, clientScript, element, worker] = await Promise.all([
  Bun.file(resolve(here, 'index.html')).text(),
  bundle(resolve(here, 'src/main.ts')),
  bundle(resolve(here, 'src/styles/page.css')),
  bundle(resolve(client, 'index.ts')),
  bundle(resolve(client, 'element.ts')),
  bundle(resolve(client, 'worker.ts')),
])

process.stdout.write(JSON.stringify({ html, script, style, client: clientScript, element, worker }))
