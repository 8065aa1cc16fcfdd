// Presence for anybody, as profile pages show it, made to be kept by a CDN: the answer depends on
// nothing but the person, and only on what they show to everyone.

import { userId } from '../../input/schemas.ts'
import type { ViewerReader } from '../../presence/reading/viewer-reader.ts'
import { CORS_HEADERS_READ } from '../guard.ts'
import { publicPresence } from '../openapi/answers.ts'
import { replyJson } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

const CACHEABLE = {
  'cache-control': 'public, max-age=30',
  // For every origin: whoever asked first must not decide for whom the cache keeps it.
  'access-control-allow-origin': '*',
  'access-control-expose-headers': CORS_HEADERS_READ,
}

export function publicRoutes({ viewerReader }: { viewerReader: ViewerReader }): Routes {
  return {
    '/api/v1/public/presence/:user_id': {
      GET: route({
        for: 'anyone',
        summary: 'Presence of one person, for anybody',
        description:
          'Only of people who show their status to everyone; all others look like somebody who never came. So ' +
          'does whoever denies anybody or is reciprocal: without a name you might be the one. ' +
          'Cacheable for 30 s; send the ETag back in If-None-Match.',
        params: { user_id: userId },
        answers: { 200: publicPresence, 304: nothing('Still the same') },
        refusals: ['invalid_id', 'unavailable'],
        async run({ params, request }) {
          const { found } = await viewerReader.read({ kind: 'anyone' }, [params.user_id])
          const { source: _, ...presence } = found[0]!
          const json = JSON.stringify(presence)
          const headers = { ...CACHEABLE, etag: `"${Bun.hash(json).toString(36)}"` }
          const isKnown = namesTag(request.headers.get('if-none-match'), headers.etag)
          return isKnown ? new Response(null, { status: 304, headers }) : replyJson(json, 200, headers)
        },
      }),
    },
  }
}

/** Caches may send several, and mark them as weak. */
function namesTag(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.split(',').some((tag) => {
    const name = tag.trim().replace(/^W\//, '')
    return name === etag || name === '*'
  })
}
