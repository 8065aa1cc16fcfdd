// Every forged, stale or malformed token is refused with the right code, and every good one names
// exactly its user. Tokens are made by hand where a library would refuse to make them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { ErrorCode } from '@greendot/protocol'
import fc from 'fast-check'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { type AuthConfig, bearerToken, createAuthenticator, type Refusal } from './auth.ts'
import type { RejectionReason } from './rejection-log.ts'

const NOW = 1_750_000_000_000
const NOW_SECONDS = NOW / 1000
const SECRET = 'a shared secret of more than 32 bytes'
const SERVER_KEY = 'a-server-key-of-some-length'
const clock = { now: () => NOW }

const secured: AuthConfig = {
  dev: false,
  jwtSecret: SECRET,
  jwksUrl: null,
  jwtAudience: [],
  jwtIssuer: [],
  serverKeys: [SERVER_KEY, `${SERVER_KEY}-2`],
}
const dev: AuthConfig = { ...secured, dev: true, jwtSecret: null, serverKeys: [] }

function authenticate(token: string | null, config: AuthConfig = secured) {
  return createAuthenticator(config, clock).authenticate(token)
}

/** What a refusal with this code looks like, whatever its message. */
function refusal(code: ErrorCode): Refusal {
  return { kind: 'refused', reason: expect.any(String), code, message: expect.any(String) }
}

const alice: JWTPayload = { sub: 'alice', exp: NOW_SECONDS + 60 }

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** A token with any header and claims, signed with HMAC whether that is allowed or not. */
function handMade(header: object, claims: object, secret: string, hash = 'sha256'): string {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

function signed(claims: object): string {
  return handMade({ alg: 'HS256', typ: 'JWT' }, claims, SECRET)
}

describe('user tokens by shared secret', () => {
  test('[C6] a good token is its user, until it expires', async () => {
    expect(await authenticate(signed(alice))).toEqual({
      kind: 'user',
      userId: 'alice',
      expiresAt: NOW + 60_000,
      issuedAt: null,
    })
  })

  test('[C6] time comes from the clock, to the second', async () => {
    expect(await authenticate(signed({ ...alice, exp: NOW_SECONDS + 1 }))).toMatchObject({ kind: 'user' })
    expect(await authenticate(signed({ ...alice, exp: NOW_SECONDS }))).toEqual(refusal('token_expired'))
    expect(await authenticate(signed({ ...alice, nbf: NOW_SECONDS }))).toMatchObject({ kind: 'user' })
    expect(await authenticate(signed({ ...alice, nbf: NOW_SECONDS + 1 }))).toEqual(refusal('unauthorized'))
  })

  test('[C6] an expiry beyond all dates is still a number', async () => {
    const claims = signed({ sub: 'alice', exp: 1e300 })
    expect(await authenticate(claims)).toMatchObject({ expiresAt: Number.MAX_SAFE_INTEGER })
  })

  const header = { alg: 'HS256', typ: 'JWT' }
  const unsignedToken = `${encode({ alg: 'none' })}.${encode(alice)}.`
  const expired = { ...alice, exp: NOW_SECONDS - 1 }
  const good = signed(alice).split('.') as [string, string, string]
  const forged: [string, string][] = [
    ['signed with another secret', handMade(header, alice, `${SECRET}!`)],
    ['expired and signed with another secret', handMade(header, expired, `${SECRET}!`)],
    ['signed with an empty secret', handMade(header, alice, '')],
    ['unsigned (alg none)', unsignedToken],
    [
      'unsigned (alg nOnE), with the signature of another',
      `${encode({ alg: 'nOnE' })}.${good[1]}.${good[2]}`,
    ],
    ['without an alg', handMade({ typ: 'JWT' }, alice, SECRET)],
    ['of a larger hash', handMade({ alg: 'HS512' }, alice, SECRET, 'sha512')],
    ['with claims swapped after signing', `${good[0]}.${encode({ ...alice, sub: 'root' })}.${good[2]}`],
    ['with its signature cut off', `${good[0]}.${good[1]}.`],
    ['with an unknown critical header', handMade({ ...header, crit: ['x'], x: 1 }, alice, SECRET)],
    ['with an unencoded payload', handMade({ ...header, b64: false, crit: ['b64'] }, alice, SECRET)],
    ['without exp', signed({ sub: 'alice' })],
    ['with exp as text', signed({ ...alice, exp: String(NOW_SECONDS + 60) })],
    ['with exp null', signed({ ...alice, exp: null })],
    ['without sub', signed({ exp: NOW_SECONDS + 60 })],
    ['with a number as sub', signed({ ...alice, sub: 7 })],
    ['with an empty sub', signed({ ...alice, sub: '' })],
    ['with a comma in sub', signed({ ...alice, sub: 'alice,bob' })],
    ['with a sub of 129 bytes', signed({ ...alice, sub: 'x'.repeat(129) })],
    ['with claims that are a list', signed([])],
    ['of an encrypted kind', `${encode({ alg: 'dir', enc: 'A256GCM' })}..a.b.c`],
    ['a dev token', 'dev:alice'],
    ['the dev server key', 'dev'],
    ['empty', ''],
    ['dots', '..'],
  ]
  for (const [what, token] of forged) {
    test(`[C6] refused: ${what}`, async () =>
      expect(await authenticate(token)).toEqual(refusal('unauthorized')))
  }

  test('[C6] a good signature on a token over 8 KiB is not even checked', async () => {
    const token = signed({ ...alice, padding: 'x'.repeat(8192) })
    expect(await authenticate(token)).toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('longer'),
    })
    expect(await authenticate(signed({ ...alice, padding: 'x'.repeat(4096) }))).toMatchObject({
      kind: 'user',
    })
  })

  const claimed: AuthConfig = { ...secured, jwtAudience: ['chat', 'game'], jwtIssuer: ['https://id.test/'] }
  const own = { ...alice, aud: 'chat', iss: 'https://id.test/' }
  test('[C6] audience and issuer are matched where they are set', async () => {
    for (const aud of ['chat', 'game', ['other', 'game']])
      expect(await authenticate(signed({ ...own, aud }), claimed)).toMatchObject({ userId: 'alice' })
    // Where they are not set, any is accepted.
    expect(await authenticate(signed({ ...own, aud: 'x', iss: 'y' }))).toMatchObject({ userId: 'alice' })
  })

  const foreign: [object, RejectionReason][] = [
    [{ ...own, aud: 'shop' }, 'wrong audience'],
    [{ ...own, aud: ['shop'] }, 'wrong audience'],
    [{ ...own, aud: 7 }, 'wrong audience'],
    [{ ...own, aud: undefined }, 'no audience'],
    [{ ...own, iss: 'https://id.test' }, 'wrong issuer'],
    [{ ...own, iss: ['https://id.test/'] }, 'wrong issuer'],
    [{ ...own, iss: undefined }, 'no issuer'],
    [{ ...own, sub: undefined }, 'no sub'],
    [{ ...own, sub: 'a b' }, 'sub is not a valid user id'],
    [{ ...own, exp: undefined }, 'no exp'],
    [{ ...own, exp: NOW_SECONDS - 1 }, 'expired'],
    [{ ...own, nbf: NOW_SECONDS + 60 }, 'not valid yet'],
  ]
  test.each(foreign)('[C6] %j is refused, and the reason is for the log', async (claims, reason) => {
    const reasons: string[] = []
    const told = createAuthenticator(claimed, clock, (one) => reasons.push(one))
    const code = reason === 'expired' ? 'token_expired' : 'unauthorized'
    expect(await told.authenticate(signed(claims))).toEqual(refusal(code))
    expect(reasons).toEqual([reason])
  })

  test('[C6] forged tokens have a reason too, which the client is not told', async () => {
    const reasons: string[] = []
    const told = createAuthenticator(claimed, clock, (one) => reasons.push(one))
    const tokens = [null, 'x', handMade(header, alice, 'y'), unsignedToken, 'x'.repeat(9_000)]
    const answers = await Promise.all(tokens.map((token) => told.authenticate(token)))
    expect(reasons.toSorted()).toEqual([
      'algorithm not allowed',
      'bad signature',
      'no token',
      'not a JWT and not a server key',
      'too long',
    ])
    expect(answers[1]).toMatchObject({ message: (answers[2] as Refusal).message })
  })

  test('[C6] no token at all', async () => expect(await authenticate(null)).toEqual(refusal('unauthorized')))

  test('[C6] any text is refused and none makes it throw', async () => {
    const { authenticate } = createAuthenticator({ ...secured, dev: false }, clock)
    const part = fc.oneof(
      fc.string(),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    )
    const token = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(part, { minLength: 2, maxLength: 5 }).map((p) => p.join('.')),
    )
    await fc.assert(
      fc.asyncProperty(token, async (text) => {
        expect(await authenticate(text)).toEqual(refusal('unauthorized'))
      }),
    )
  })
})

describe('server keys', () => {
  test('[C6] each key is the backend', async () => {
    expect(await authenticate(SERVER_KEY)).toEqual({ kind: 'server' })
    expect(await authenticate(`${SERVER_KEY}-2`)).toEqual({ kind: 'server' })
  })

  for (const token of [
    SERVER_KEY.slice(0, -1),
    `${SERVER_KEY}-`,
    SERVER_KEY.toUpperCase(),
    `${SERVER_KEY},${SERVER_KEY}-2`,
  ]) {
    test(`[C6] not quite a key: ${token}`, async () => {
      expect(await authenticate(token)).toEqual(refusal('unauthorized'))
    })
  }
})

describe('dev mode', () => {
  test('[C6] dev:alice is alice for ever, and dev is the backend', async () => {
    expect(await authenticate('dev:alice', dev)).toMatchObject({
      kind: 'user',
      userId: 'alice',
      expiresAt: null,
    })
    expect(await authenticate('dev:dev:x', dev)).toMatchObject({ userId: 'dev:x' })
    expect(await authenticate('dev', dev)).toEqual({ kind: 'server' })
  })

  for (const token of ['dev:', 'dev:a b', 'dev:a,b', `dev:${'x'.repeat(129)}`, 'DEV:alice', 'devalice']) {
    test(`[C6] refused in dev: ${token.slice(0, 20)}`, async () => {
      expect(await authenticate(token, dev)).toEqual(refusal('unauthorized'))
    })
  }

  test('[C6] signed tokens and keys work beside dev tokens, and are still checked', async () => {
    const both: AuthConfig = { ...secured, dev: true }
    expect(await authenticate(signed(alice), both)).toMatchObject({ kind: 'user', userId: 'alice' })
    expect(await authenticate('dev:bob', both)).toMatchObject({ kind: 'user', userId: 'bob' })
    expect(await authenticate(SERVER_KEY, both)).toEqual({ kind: 'server' })
    expect(await authenticate(handMade({ alg: 'HS256' }, alice, 'wrong'), both)).toEqual(
      refusal('unauthorized'),
    )
  })

  test('[C6] a signed token means nothing where nothing can check it', async () => {
    expect(await authenticate(signed(alice), dev)).toEqual(refusal('unauthorized'))
  })
})

describe('user tokens by key set', () => {
  const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']
  const privateKeys = new Map<string, CryptoKey>()
  const keys: JWK[] = []
  let rsaPem = ''
  let fetches = 0
  let server: ReturnType<typeof Bun.serve>
  let config: AuthConfig

  beforeAll(async () => {
    for (const alg of algorithms) {
      const pair = await generateKeyPair(alg, { extractable: true })
      privateKeys.set(alg, pair.privateKey)
      keys.push({ ...(await exportJWK(pair.publicKey)), alg, kid: alg, use: 'sig' })
      if (alg === 'RS256') rsaPem = await exportSPKI(pair.publicKey)
    }
    // A provider might publish a symmetric key by mistake; it must not be accepted.
    keys.push({ kty: 'oct', kid: 'shared', k: Buffer.from(SECRET).toString('base64url'), alg: 'HS256' })
    server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        const { pathname } = new URL(request.url)
        if (pathname === '/broken') return new Response('<html>', { status: 200 })
        if (pathname !== '/keys') return new Response('gone', { status: 404 })
        fetches++
        return Response.json({ keys })
      },
    })
    config = { ...secured, jwtSecret: null, jwksUrl: `${server.url}keys`, serverKeys: [] }
  })

  afterAll(() => server.stop(true))

  function sign(alg: string, claims: JWTPayload, kid = alg): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKeys.get(alg)!)
  }

  test('[C6] good tokens of every asymmetric kind, with one fetch for all', async () => {
    fetches = 0
    const { authenticate } = createAuthenticator(config, clock)
    for (const alg of algorithms) {
      const caller = await authenticate(await sign(alg, alice))
      expect(caller).toMatchObject({ kind: 'user', userId: 'alice', expiresAt: NOW + 60_000 })
    }
    expect(fetches).toBe(1)
  })

  test('[C6] expired, without exp, with a bad sub', async () => {
    const { authenticate } = createAuthenticator(config, clock)
    expect(await authenticate(await sign('ES256', { ...alice, exp: NOW_SECONDS }))).toEqual(
      refusal('token_expired'),
    )
    expect(await authenticate(await sign('ES256', { sub: 'alice' }))).toEqual(refusal('unauthorized'))
    expect(await authenticate(await sign('ES256', { ...alice, sub: 'a b' }))).toEqual(refusal('unauthorized'))
  })

  test('[C6] tokens that the publisher of the keys made for another app are refused', async () => {
    const reasons: string[] = []
    const claimed = { ...config, jwtAudience: ['chat'], jwtIssuer: ['https://id.test/'] }
    const { authenticate } = createAuthenticator(claimed, clock, (reason) => reasons.push(reason))
    const own = { ...alice, aud: 'chat', iss: 'https://id.test/' }
    expect(await authenticate(await sign('ES256', own))).toMatchObject({ userId: 'alice' })
    for (const claims of [{ ...own, aud: 'shop' }, { ...own, iss: 'https://other.test/' }, alice])
      expect(await authenticate(await sign('ES256', claims))).toEqual(refusal('unauthorized'))
    expect(await authenticate(await sign('ES256', own, 'unknown'))).toEqual(refusal('unauthorized'))
    expect(reasons).toEqual([
      'wrong audience',
      'wrong issuer',
      expect.stringMatching(/^no (issuer|audience)$/),
      'signed with an unknown key',
    ])
  })

  test('[C6] forged: keys of our own, public keys as secrets, keys brought along', async () => {
    const { authenticate } = createAuthenticator(config, clock)
    const own = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(own.publicKey)
    const forged = [
      await new SignJWT(alice).setProtectedHeader({ alg: 'ES256', kid: 'ES256' }).sign(own.privateKey),
      await new SignJWT(alice).setProtectedHeader({ alg: 'ES256', jwk }).sign(own.privateKey),
      handMade({ alg: 'HS256', kid: 'RS256' }, alice, rsaPem),
      handMade({ alg: 'HS256', kid: 'shared' }, alice, SECRET),
      `${encode({ alg: 'none', kid: 'RS256' })}.${encode(alice)}.`,
      await sign('RS256', alice, 'PS256'),
    ]
    for (const token of forged) expect(await authenticate(token)).toEqual(refusal('unauthorized'))
  })

  test('[C6] unknown keys do not make us fetch for every token', async () => {
    fetches = 0
    const { authenticate } = createAuthenticator(config, clock)
    for (let attempt = 0; attempt < 20; attempt++) {
      expect(await authenticate(await sign('ES256', alice, `unknown-${attempt}`))).toEqual(
        refusal('unauthorized'),
      )
    }
    expect(fetches).toBe(1)
  })

  test('[C7] a key set that cannot be fetched is our trouble, not a bad token', async () => {
    const token = await sign('ES256', alice)
    for (const path of ['missing', 'broken']) {
      const jwksUrl = `${server.url}${path}`
      expect(await authenticate(token, { ...config, jwksUrl })).toEqual(refusal('unavailable'))
    }
    expect(await authenticate(token, { ...config, jwksUrl: 'http://127.0.0.1:1/keys' })).toEqual(
      refusal('unavailable'),
    )
  })
})

describe('where a token is', () => {
  const query = new URLSearchParams('token=from-query&device_id=d')

  test('[C6] in the Authorization header, which wins over the query', () => {
    const headers = new Headers({ authorization: 'Bearer from-header' })
    expect(bearerToken(headers)).toBe('from-header')
    expect(bearerToken(headers, query)).toBe('from-header')
    expect(bearerToken(new Headers({ authorization: 'bearer  x ' }))).toBe('x')
  })

  test('[C6] in the query only where that is allowed', () => {
    expect(bearerToken(new Headers(), query)).toBe('from-query')
    expect(bearerToken(new Headers())).toBeNull()
    expect(bearerToken(new Headers(), new URLSearchParams('token=dev%3Aalice'))).toBe('dev:alice')
  })

  test('[C6] nowhere else', () => {
    expect(bearerToken(new Headers(), new URLSearchParams())).toBeNull()
    expect(bearerToken(new Headers({ authorization: 'Basic YTpi' }))).toBeNull()
    expect(bearerToken(new Headers({ authorization: 'Bearer' }))).toBeNull()
    expect(bearerToken(new Headers({ authorization: 'Bearer a b' }))).toBeNull()
  })
})
