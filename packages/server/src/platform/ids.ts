// Randomness: names that are unique without coordination, and waits that must not coincide.
import { chance } from './chance.ts'

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A random name of 80 bits. */
export function randomName(prefix: string): string {
  let name = ''
  for (const byte of chance.bytes(16)) name += BASE32[byte & 31]
  return prefix + name
}

/** Random bytes for a secret. */
export function randomSecret(bytes: number): Buffer {
  return chance.bytes(bytes)
}

/** A random part of a wait. */
export function randomUpTo(waitMs: number): number {
  return Math.round(waitMs * chance.fraction())
}

/**
 * A random one-to-one mapping of 32-bit numbers, so that consecutive numbers do not reveal how many lie
 * between two of them (S6, decision 23: content). For names, not for secrets.
 */
export function createScramble(): (number: number) => number {
  const [before, after] = [chance.bytes(4).readUInt32LE(), chance.bytes(4).readUInt32LE()]
  return (number) => {
    let bits = (number ^ before) >>> 0
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    return (bits ^ (bits >>> 16) ^ after) >>> 0
  }
}

/** Between half and all of a wait, so that many waits do not end at the same moment. */
export function jittered(waitMs: number): number {
  return waitMs * (0.5 + chance.fraction() / 2)
}

export function randomHex(bytes: number): string {
  return chance.bytes(bytes).toString('hex')
}

/** True for one of so many calls, by chance. */
export function takesPart(oneIn: number): boolean {
  return chance.fraction() * oneIn < 1
}
