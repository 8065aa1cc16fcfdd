// The page at `/`, carried inside the program so that a single file serves it too.
import html from '../../../../dashboard/index.html' with { type: 'text' }

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export const page = new Response(String(html), {
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  },
})
