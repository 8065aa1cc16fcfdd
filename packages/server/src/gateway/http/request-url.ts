// The URL of a request, of which only path and query mean anything here. What the Host header says
// is up to the sender and may be missing or nonsense, so no answer depends on it.

const ORIGIN = /^https?:\/\/[^/?#]*/

export function urlOf(request: { url: string }): URL {
  return new URL(`http://localhost${request.url.replace(ORIGIN, '')}`)
}
