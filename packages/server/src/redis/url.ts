// Reads `redis_url` from the configuration. A URL that cannot be used becomes a sentence that says what to
// write instead. The sentence never repeats the URL, which may contain a password.

export interface RedisNodeAddress {
  host: string
  port: number
}

export interface RedisAccess {
  username: string | null
  password: string | null
  tls: boolean
}

export type RedisUrl =
  | ({ kind: 'single'; node: RedisNodeAddress; db: number } & RedisAccess)
  | ({ kind: 'cluster'; nodes: RedisNodeAddress[] } & RedisAccess)
  | { kind: 'invalid'; message: string }

const EXAMPLES =
  'use redis://host:6379, rediss://user:password@host:6379/0 or redis-cluster://host:6379,host:6379'
const PORT_DEFAULT = 6379
const PORT_MAX = 65_535

// A password may contain an @: the last one separates.
const SHAPE = /^(redis|rediss|redis-cluster|rediss-cluster):\/\/(?:(.*)@)?([^@/?#]*)(?:\/([^?#]*))?$/is

export function parseRedisUrl(text: string): RedisUrl {
  const [, scheme, userinfo, hosts, path = ''] = SHAPE.exec(text.trim()) ?? []
  if (scheme === undefined || hosts === undefined)
    return invalid(`The Redis URL is not well formed: ${EXAMPLES}`)
  const login = parseLogin(userinfo)
  if (login === null) {
    return invalid(
      'The Redis URL has a login that cannot be read: write user:password@ or :password@, with % for special characters',
    )
  }
  const access: RedisAccess = { ...login, tls: /^rediss/i.test(scheme) }
  const nodes = hosts.split(',').map(parseNode)
  if (nodes.some((node) => node === null)) {
    return invalid(`The Redis URL has an address that is not host:port: ${EXAMPLES}`)
  }
  const found = nodes as RedisNodeAddress[]
  if (/-cluster$/i.test(scheme)) {
    if (path !== '' && path !== '0')
      return invalid('A Redis Cluster has no numbered databases: leave out what follows the addresses')
    return { kind: 'cluster', nodes: found, ...access }
  }
  if (found.length > 1)
    return invalid('The Redis URL names several servers: if they are a cluster, write redis-cluster://')
  if (!/^\d{0,4}$/.test(path))
    return invalid('The Redis URL has a database that is not a number: use redis://host:6379/0')
  return { kind: 'single', node: found[0]!, db: Number(path), ...access }
}

const invalid = (message: string): RedisUrl => ({ kind: 'invalid', message })

function parseLogin(userinfo: string | undefined): Pick<RedisAccess, 'username' | 'password'> | null {
  if (userinfo === undefined) return { username: null, password: null }
  const colon = userinfo.indexOf(':')
  // A single word could be a user or a password, so it is refused.
  if (colon === -1) return null
  try {
    const username = decodeURIComponent(userinfo.slice(0, colon))
    const password = decodeURIComponent(userinfo.slice(colon + 1))
    return { username: username || null, password: password || null }
  } catch {
    return null
  }
}

function parseNode(text: string): RedisNodeAddress | null {
  const [, bracketed, plain, portText] =
    /^(?:\[([\da-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = bracketed ?? plain
  const port = portText === undefined ? PORT_DEFAULT : Number(portText)
  return host === undefined || port < 1 || port > PORT_MAX ? null : { host, port }
}
