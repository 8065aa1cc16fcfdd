// The query of a request. What the Host header says is up to the sender and may be missing or nonsense,
// so nothing here takes the whole URL apart and no answer depends on it.

export function queryOf(request: { url: string }): URLSearchParams {
  const { url } = request
  const start = url.indexOf('?')
  if (start === -1) return new URLSearchParams()
  const end = url.indexOf('#', start)
  return new URLSearchParams(url.slice(start + 1, end === -1 ? undefined : end))
}
