// Bundles the page and the client for browsers and prints them as JSON. It runs as a program of its own:
// the server starts it when somebody first asks for the page, and the compiler when it makes the
// executable (see http/pages/bundle.ts in the server). Nothing is written, so no generated file can be stale.
import { resolve } from 'node:path'

const here = import.meta.dir
const client = resolve(here, '../client/src')

/** The one output of a bundle; dynamic imports come inside it. */
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

const [html, script, style, clientScript, worker] = await Promise.all([
  Bun.file(resolve(here, 'index.html')).text(),
  bundle(resolve(here, 'src/main.ts')),
  bundle(resolve(here, 'src/styles/page.css')),
  bundle(resolve(client, 'index.ts')),
  bundle(resolve(client, 'worker.ts')),
])

process.stdout.write(JSON.stringify({ html, script, style, client: clientScript, worker }))
