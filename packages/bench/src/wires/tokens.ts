// Tokens like those of any application: JWTs signed with HS256. Made before the clock starts, so
// signing them is not measured.
import { createHmac } from 'node:crypto'
import type { TargetSpec } from '../subject/subject.ts'
import { userName } from './wire.ts'

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = encode({ alg: 'HS256', typ: 'JWT' })
const TTL_S = 24 * 3600

export function mintToken(
  { secret, claims }: Pick<TargetSpec, 'secret' | 'claims'>,
  user: number,
  nowMs: number,
): string {
  const issuedAt = Math.floor(nowMs / 1000)
  const name = userName(user)
  const more = Object.fromEntries(
    Object.entries(claims).map(([claim, value]) => [claim, value.replaceAll('{user}', name)]),
  )
  const body = `${HEADER}.${encode({ sub: name, iat: issuedAt, exp: issuedAt + TTL_S, ...more })}`
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
}
