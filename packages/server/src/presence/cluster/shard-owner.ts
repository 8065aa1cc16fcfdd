// Which of several processes owns something, a shard or a foreign gateway: the one whose name hashes highest together
// with it. Processes that see the same names agree, and when one goes only what it owned moves.

/** Leases of gateways and other processes are kept together. These prefixes tell whose they are. */
export const SWEEPER_PREFIX = 'p-'
export const HOLDER_PREFIX = 'f-'

export const isGatewayName = (name: string): boolean =>
  !name.startsWith(SWEEPER_PREFIX) && !name.startsWith(HOLDER_PREFIX)

export function ownerOf(owned: number | string, names: readonly string[]): string | null {
  let owner: string | null = null
  let highest = -1
  for (const name of names) {
    const weight = hash(`${owned}:${name}`)
    if (weight > highest || (weight === highest && owner !== null && name < owner)) {
      highest = weight
      owner = name
    }
  }
  return owner
}

// FNV-1a, with a last mix: names differ mostly in their last characters.
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}
