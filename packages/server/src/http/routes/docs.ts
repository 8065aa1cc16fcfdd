// The description of the API, as an OpenAPI document and as a page that displays it and sends requests.
import { z } from 'zod'
import type { PageChoice } from '../../platform/config/settings.ts'
import { docsPage } from '../pages/page.ts'
import { replyJson } from '../reply.ts'
import { json, type Routes, route, text } from '../route.ts'

const CACHED = { 'cache-control': 'public, max-age=60' }

export interface DocsRoutesParts {
  /** All other routes. The document describes these and its own. */
  apiRoutes: Routes
  describe(all: Routes): Promise<string>
  pages: PageChoice
}

export function docsRoutes({ apiRoutes, describe, pages }: DocsRoutesParts): Routes {
  // Made on the first request: it costs 6 MB, and most processes are never asked for it.
  let document: Promise<string> | null = null
  const page: Routes = {
    '/docs': {
      GET: route({
        for: 'anyone',
        summary: 'This document as a page',
        answers: { 200: text('text/html', 'Displays the document and sends requests') },
        run: () => docsPage(),
      }),
    },
  }
  const own: Routes = {
    '/openapi.json': {
      GET: route({
        for: 'anyone',
        summary: 'This document',
        answers: {
          200: json(z.looseObject({ openapi: z.string() }), 'Every route of this server, as OpenAPI 3.1'),
        },
        async run() {
          document ??= describe({ ...apiRoutes, ...own })
          return replyJson(await document, 200, CACHED)
        },
      }),
    },
    ...(pages === 'none' ? {} : page),
  }
  return own
}
