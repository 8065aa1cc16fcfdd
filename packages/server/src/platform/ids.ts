// Chance: names that must be unique without asking anybody, and waits that must not coincide.
import { randomBytes } from 'node:crypto'

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A random name of 80 bits. */
export function randomName(prefix: string): string {
  let name = ''
  for (const byte of randomBytes(16)) name += BASE32[byte & 31]
  return prefix + name
}

/** Between half and all of a wait, so that many who wait do not end together. */
export function jittered(waitMs: number): number {
  return waitMs * (0.5 + Math.random() / 2)
}
