// Names that must be unique without asking anybody. The only place that draws them.
import { randomBytes } from 'node:crypto'

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

/** A random name of 80 bits. */
export function randomName(prefix: string): string {
  let name = ''
  for (const byte of randomBytes(16)) name += BASE32[byte & 31]
  return prefix + name
}
