// The pages at `/` and `/docs`, the browser client and its element, embedded in the program so that a single file serves
// them. A page runs only its own inline script and styles, and loads nothing from other hosts. The setting `pages`
// chooses what is served; the client is no page and always is.
import { createHash } from 'node:crypto'
import docs from '../../../../dashboard/docs.html' with { type: 'text' }
import type { PageChoice } from '../../platform/config/settings.ts'
import { refuse } from '../reply.ts'
import { createAsset, NOT_WRITABLE, type Serve } from './asset.ts'
import type { PageSources } from './bundle.ts'

const CLIENT_PATHS = ['/client.js', '/element.js', '/worker.js', '/client-worker.js'] as const
type Path = '/' | (typeof CLIENT_PATHS)[number]
export type Pages = Record<string, (request: Request) => Promise<Response>>

const NO_OTHER_ORIGIN = [
  "default-src 'none'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]
/** Both workers belong to the client: the shared worker, and the timer worker it creates. */
const PAGE_NEEDS = ["connect-src 'self'", "worker-src 'self' blob:"]
const DOCS_NEEDS = ["connect-src 'self'"]

/** Any page may import the client, also a cross-origin isolated one. */
const FOR_ANY_ORIGIN = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=300',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  // A worker has its own policy, not the policy of the page that starts it.
  'content-security-policy': "default-src 'none'; connect-src 'self'",
}

function hashOf(html: string, tag: 'script' | 'style'): string {
  const [, inside = ''] = new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, 's').exec(html) ?? []
  return `'sha256-${createHash('sha256').update(inside).digest('base64')}'`
}

function headersOf(html: string, needs: readonly string[]): Record<string, string> {
  const policy = [
    ...NO_OTHER_ORIGIN,
    `script-src ${hashOf(html, 'script')}`,
    `style-src ${hashOf(html, 'style')}`,
    ...needs,
  ]
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  }
}

/** One document with everything inside, so that all parts have the same version. */
function assemble({ html, script, style }: PageSources, { dev, pages }: PagesConfig): string {
  // Functions, because a replacement string interprets $.
  return html
    .replace('data-mode=""', `data-mode="${dev ? 'dev' : 'secured'}" data-pages="${pages}"`)
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace(/(?<=<script type="module">)(?=<\/script>)/, () => script.replaceAll('</script', '<\\/script'))
}

async function makeAssets(config: PagesConfig): Promise<Record<Path, Serve>> {
  const { sources } = await import('./embedded.mts')
  const page = assemble(sources, config)
  const worker = createAsset(sources.worker, FOR_ANY_ORIGIN)
  return {
    '/': createAsset(page, headersOf(page, PAGE_NEEDS)),
    '/client.js': createAsset(sources.client, FOR_ANY_ORIGIN),
    '/element.js': createAsset(sources.element, FOR_ANY_ORIGIN),
    '/worker.js': worker,
    // The former name.
    '/client-worker.js': worker,
  }
}

export interface PagesConfig {
  dev: boolean
  pages: PageChoice
}

/** Built on the first request: most processes of a deployment never serve the page. */
export function createPages(config: PagesConfig): Pages {
  let assets: Promise<Record<Path, Serve>> | null = null
  const serve = (path: Path) => async (request: Request) => {
    assets ??= makeAssets(config)
    return (await assets)[path](request)
  }
  return {
    ...Object.fromEntries(CLIENT_PATHS.map((path) => [path, serve(path)])),
    ...(config.pages === 'none' ? {} : { '/': serve('/'), '/dashboard': toDashboard }),
  }
}

// Relative, so that it also leads to the page behind a proxy that adds a prefix to every path.
async function toDashboard({ method }: Request): Promise<Response> {
  if (method !== 'GET' && method !== 'HEAD') return refuse(NOT_WRITABLE, { allow: 'GET' })
  return new Response(null, {
    status: 302,
    headers: { location: './#dashboard', 'cache-control': 'no-cache' },
  })
}

const DOCS_HEADERS = headersOf(String(docs), DOCS_NEEDS)
export const docsPage = (): Response => new Response(String(docs), { headers: DOCS_HEADERS })
