// The short road says yes only where the library does, and to nothing that is not plain.
import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { jwtVerify } from 'jose'
import { createHs256 } from './hs256.ts'

const NOW = 1_750_000_000_000
const NOW_SECONDS = NOW / 1000
const SECRET = 'a shared secret of more than 32 bytes'
const plain = { alg: 'HS256', typ: 'JWT' }
const alice = { sub: 'alice', exp: NOW_SECONDS + 60 }

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url')

function signed(header: unknown, claims: unknown, secret = SECRET): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

const verify = createHs256(SECRET, { jwtAudience: [], jwtIssuer: [] })

test('[C6] a plain token is taken at once, again and again', () => {
  for (const header of [plain, { alg: 'HS256' }, plain])
    expect(verify(signed(header, alice), NOW)).toEqual(alice)
  const dated = { ...alice, iat: NOW_SECONDS }
  expect(verify(signed(plain, { ...dated, name: 'Alice' }), NOW)).toEqual(dated)
})

test('[C6] whatever is odd is left to the library', () => {
  const odd = [
    signed(plain, alice, 'another secret of more than 32 bytes'),
    signed({ alg: 'none' }, alice),
    signed({ alg: 'HS512' }, alice),
    signed({ ...plain, crit: ['exp'] }, alice),
    signed({ ...plain, b64: false }, alice),
    signed(null, alice),
    signed(plain, { ...alice, exp: NOW_SECONDS }),
    signed(plain, { ...alice, exp: String(alice.exp) }),
    signed(plain, { ...alice, nbf: NOW_SECONDS - 1 }),
    signed(plain, { ...alice, iat: 'yesterday' }),
    signed(plain, { sub: 'alice' }),
    signed(plain, { exp: alice.exp }),
    signed(plain, { ...alice, sub: 7 }),
    signed(plain, null),
    signed(plain, [alice]),
    `${encode(plain)}.${encode(alice)}.`,
    `${signed(plain, alice)}A`,
    ` ${signed(plain, alice)}`,
    signed(plain, alice).replace('.', '..'),
    'dev:alice',
    '',
  ]
  for (const token of odd) expect(verify(token, NOW)).toBeNull()
})

test('[C6] it never takes what the library refuses, and reads the same from it', async () => {
  const key = new TextEncoder().encode(SECRET)
  const often = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 9, arbitrary: usual }, odd)
  const odd = fc.constantFrom(null, '', 'x', -1, 1.5, [], {})
  const instant = often(fc.integer({ min: NOW_SECONDS - 2, max: NOW_SECONDS + 9 }), odd)
  const optional = often(fc.constant(undefined), odd)
  const claims = fc.record({ sub: often(fc.string(), odd), exp: instant, nbf: optional, iat: optional })
  const alg = often(fc.constant('HS256'), fc.constantFrom('none', 'RS256'))
  const header = fc.record({ alg, typ: optional, kid: optional, crit: optional })
  let taken = 0
  await fc.assert(
    fc.asyncProperty(header, claims, fc.boolean(), async (head, body, isForged) => {
      const token = signed(head, body, isForged ? `${SECRET}!` : SECRET)
      const found = verify(token, NOW)
      if (found === null) return
      taken++
      const options = { algorithms: ['HS256'], requiredClaims: ['sub', 'exp'], currentDate: new Date(NOW) }
      const { payload } = await jwtVerify(token, key, options)
      const { sub, exp, iat } = payload
      expect<unknown>({ sub, exp, iat }).toEqual({ iat: undefined, ...found })
    }),
    { numRuns: 3_000 },
  )
  expect(taken).toBeGreaterThan(100)
})
