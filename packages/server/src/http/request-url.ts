// The URL of a request. The Host header is chosen by the sender and may be missing or invalid, so nothing
// here parses the whole URL and no answer depends on it. Bytes that are not UTF-8 stay recognisable: decoders
// replace them by a valid character, and so would turn invalid ids into valid ones.

/** A lone surrogate. No id or name contains it, so every schema refuses the value by its own rule. */
const NOT_UTF8 = '\ud800'
/** What decoders write for invalid bytes. A client may also have sent it. */
const REPLACEMENT = '\ufffd'

interface Sent {
  url: string
}

export function queryOf({ url }: Sent): URLSearchParams {
  return new URLSearchParams(queryIn(url))
}

/** The part before the query. */
function addressOf({ url }: Sent): string {
  return url.split(/[?#]/, 1)[0]!
}

/** All values sent under this name. */
export function valuesOf({ url }: Sent, query: URLSearchParams, name: string): string[] {
  const values = query.getAll(name)
  if (!values.some((value) => value.includes(REPLACEMENT))) return values
  const pairs = queryIn(url)
    .split('&')
    .filter((pair) => new URLSearchParams(pair).has(name))
  // In a query, a per cent sign without two hex digits stands for itself.
  return values.map((value, position) =>
    isUtf8(pairs[position]!.replace(/%(?![\da-f]{2})/gi, '%25')) ? value : NOT_UTF8,
  )
}

/** The parameters of the path as the router decoded them. */
export function paramsOf(request: Sent & { params: Record<string, string> }): Record<string, string> {
  const { params } = request
  if (!Object.values(params).some((value) => value.includes(REPLACEMENT))) return params
  if (isUtf8(addressOf(request))) return params
  return Object.fromEntries(Object.keys(params).map((name) => [name, NOT_UTF8]))
}

function queryIn(url: string): string {
  const start = url.indexOf('?')
  if (start === -1) return ''
  const end = url.indexOf('#', start)
  return url.slice(start + 1, end === -1 ? undefined : end)
}

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded)
    return true
  } catch {
    return false
  }
}
