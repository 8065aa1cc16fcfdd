// Public presence, for profile pages, made for CDNs: the answer depends on the user only, and contains only
// what they show to everyone.

import { userId } from '../../input/schemas.ts'
import type { ViewerReader } from '../../presence/reading/viewer-reader.ts'
import { FOR_EVERY_ORIGIN } from '../access/origins.ts'
import { publicPresence } from '../openapi/answers.ts'
import { replyJson } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

const CACHEABLE = {
  'cache-control': 'public, max-age=30',
  // A cache must not keep the answer for the first origin only.
  ...FOR_EVERY_ORIGIN,
}

export function publicRoutes({ viewerReader }: { viewerReader: ViewerReader }): Routes {
  return {
    '/api/v1/public/presence/:user_id': {
      GET: route({
        for: 'anyone',
        summary: 'Public presence of one user',
        description:
          'Only for users who show their status to everyone; all others look like an unknown user. So do users ' +
          'with a deny list or reciprocity, because an anonymous viewer could be one they exclude. ' +
          'Cacheable for 30 s; send the ETag back in If-None-Match.',
        params: { user_id: userId },
        answers: { 200: publicPresence, 304: nothing('Unchanged') },
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

/** Caches may send several tags, and mark them as weak. */
function namesTag(header: string | null, etag: string): boolean {
  if (header === null) return false
  return header.split(',').some((tag) => {
    const name = tag.trim().replace(/^W\//, '')
    return name === etag || name === '*'
  })
}
