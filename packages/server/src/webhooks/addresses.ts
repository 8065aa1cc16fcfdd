// Which addresses a webhook may be sent to. By default only addresses of the public internet: a webhook must not reach
// what only this machine or its network can reach. Names are resolved here, every answer is checked, and the request is
// made to the addresses that were checked, so a second answer of the name server has no effect.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

export interface Address {
  address: string
  family: 4 | 6
}

export type Resolved = { ok: true; addresses: Address[] } | { ok: false; because: string }
export type Resolve = (name: string) => Promise<Address[]>

const NOT_PUBLIC = 'is not an address of the public internet'
const URL_CHARS_MAX = 2048

const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** The part of IPv6 that is routed; everything outside it is special. */
const ROUTED_V6 = '2000::/3'
/** Inside it: Teredo and others, documentation, and 6to4, which holds addresses of IPv4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const specialV4 = blockList('ipv4', SPECIAL_V4)
const routedV6 = blockList('ipv6', [ROUTED_V6])
const specialV6 = blockList('ipv6', SPECIAL_V6)

function blockList(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, bits] = range.split('/')
    list.addSubnet(address!, Number(bits), family)
  }
  return list
}

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !specialV4.check(address, 'ipv4')
  // Addresses of IPv4 within IPv6 (::ffff:0:0/96, 64:ff9b::/96) are not in the routed part.
  return isIP(address) === 6 && routedV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6')
}

/** The host of a URL, without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

const systemResolve: Resolve = async (name) => {
  const found = await lookup(name, { all: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/** What is wrong with a URL as far as it can be told without asking a name server; null if nothing is. */
export function urlProblem(text: string, allowsPrivate: boolean): string | null {
  if (text.length > URL_CHARS_MAX) return `url has more than ${URL_CHARS_MAX} characters`
  if (!URL.canParse(text)) return 'url is not a URL, as in https://example.com/webhook'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'url begins with https://'
  if (url.username !== '' || url.password !== '')
    return 'url has a name or a password in it; use the signature'
  if (url.hash !== '') return 'url has a fragment, which is never sent'
  if (allowsPrivate) return null
  if (url.protocol !== 'https:') return 'url begins with https://; http is for private networks only'
  const host = hostOf(url)
  const isLocalName = /(^|\.)(localhost|local|internal)\.?$/i.test(host)
  if (isLocalName || (isIP(host) !== 0 && !isPublicAddress(host)))
    return `${host} ${NOT_PUBLIC}; webhook_private_addresses allows others`
  return null
}

/** The addresses of a host, all of them allowed. */
export async function resolveTarget(
  host: string,
  allowsPrivate: boolean,
  resolve: Resolve = systemResolve,
): Promise<Resolved> {
  const family = isIP(host)
  const addresses = family === 0 ? await found(resolve, host) : [{ address: host, family: family as 4 | 6 }]
  if (addresses.length === 0) return { ok: false, because: `${host} has no address` }
  const refused = addresses.find(({ address }) => !allowsPrivate && !isPublicAddress(address))
  if (refused === undefined) return { ok: true, addresses }
  return { ok: false, because: `${host} is at ${refused.address}, which ${NOT_PUBLIC}` }
}

async function found(resolve: Resolve, host: string): Promise<Address[]> {
  try {
    return await resolve(host)
  } catch {
    return []
  }
}
