// The URL of a request. What the Host header says is up to the sender and may be missing or nonsense, so
// nothing here takes the whole URL apart and no answer depends on it. Whatever was not encoded as UTF-8
// stays recognisable: decoders put a good character in its place, and so would make good ids of bad ones.

/** Half a character, which is in no id and no name: whoever checks the value refuses it by its own rule. */
const NOT_UTF8 = '\ud800'
/** What decoders write for bytes they cannot read, and what people may have sent themselves. */
const REPLACEMENT = '\ufffd'

interface Sent {
  url: string
}

export function queryOf({ url }: Sent): URLSearchParams {
  return new URLSearchParams(queryIn(url))
}

/** Everything before the query, for logs: in the query there may be a token. */
export function addressOf({ url }: Sent): string {
  return url.split(/[?#]/, 1)[0]!
}

/** Every value that was sent under this name. */
export function valuesOf({ url }: Sent, query: URLSearchParams, name: string): string[] {
  const values = query.getAll(name)
  if (!values.some((value) => value.includes(REPLACEMENT))) return values
  const pairs = queryIn(url)
    .split('&')
    .filter((pair) => new URLSearchParams(pair).has(name))
  // A per cent sign that begins nothing stands for itself in a query.
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
