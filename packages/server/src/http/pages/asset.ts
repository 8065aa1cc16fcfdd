// Static texts, compressed once, with an ETag so that browsers and caches can revalidate. Only GET and HEAD
// are allowed.
import { refuse } from '../reply.ts'

export const NOT_WRITABLE = { code: 'method_not_allowed', message: 'only GET here' } as const

export type Serve = (request: Request) => Response

export function createAsset(text: string, headers: Record<string, string>): Serve {
  const plain = new TextEncoder().encode(text)
  const packed = Bun.gzipSync(plain)
  const etag = `W/"${Bun.hash(plain).toString(36)}"`
  const shared = { ...headers, etag, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' }

  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(NOT_WRITABLE, { allow: 'GET' })
    // Caches may send several tags, or a star for any.
    const kept = request.headers.get('if-none-match')?.split(',') ?? []
    if (kept.some((tag) => tag.trim() === etag || tag.trim() === '*'))
      return new Response(null, { status: 304, headers: shared })
    const isPacked = request.headers.get('accept-encoding')?.includes('gzip') ?? false
    return isPacked
      ? new Response(packed, { headers: { ...shared, 'content-encoding': 'gzip' } })
      : new Response(plain, { headers: shared })
  }
}
