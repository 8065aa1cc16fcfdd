// Which of several sweepers owns a shard: the one whose name hashes highest together with the shard. Sweepers
// that see the same names agree, and when one goes only its shards move.

export function ownerOf(shard: number, names: readonly string[]): string | null {
  let owner: string | null = null
  let highest = -1
  for (const name of names) {
    const weight = hash(`${shard}:${name}`)
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
