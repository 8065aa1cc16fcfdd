// Chance: names that must be unique without asking anybody, and waits that must not coincide.
import { randomBytes } from 'node:crypto'

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A random name of 80 bits. */
export function randomName(prefix: string): string {
  let name = ''
  for (const byte of randomBytes(16)) name += BASE32[byte & 31]
  return prefix + name
}

/** A whole number from zero up to `below`, which is left out. */
export function randomBelow(below: number): number {
  return Math.floor(below * Math.random())
}

/** Somewhere between nothing and all of a wait. */
export function randomUpTo(waitMs: number): number {
  return Math.round(waitMs * Math.random())
}

/**
 * A way to name numbers by other numbers of 32 bits, each by its own, so that names that were counted
 * up do not tell how many came between them. For names, not for secrets.
 */
export function createScramble(): (number: number) => number {
  const [before, after] = [randomBytes(4).readUInt32LE(), randomBytes(4).readUInt32LE()]
  return (number) => {
    let bits = (number ^ before) >>> 0
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    return (bits ^ (bits >>> 16) ^ after) >>> 0
  }
}

/** Between half and all of a wait, so that many who wait do not end together. */
export function jittered(waitMs: number): number {
  return waitMs * (0.5 + Math.random() / 2)
}
