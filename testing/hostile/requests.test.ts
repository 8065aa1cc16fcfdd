// HTTP requests that are too large, of the wrong kind, or hardly requests at all. Ours get a problem
// document; what Bun's parser refuses before us gets its bare answer. Never a 5xx, never a change.
import { describe, expect, test } from 'bun:test'
import { BODY_BYTES_MAX, type ErrorCode } from '@greendot/protocol'
import { call, expectProblem } from '../http/calls.ts'
import { useAttackFixture } from './fixture.ts'
import { openRaw, sendRaw } from './raw-socket.ts'

const fixture = useAttackFixture()

const STATUS = '/api/v1/presence/status'
const QUERY = '/api/v1/presence/query'
const TOKEN = 'dev:mallory'
const AUTHORIZATION = `Authorization: Bearer ${TOKEN}\r\n`

/** The status line and, when the answer is ours, the code of its problem. */
const gist = (answer: string) => ({
  status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0),
  code: /"code":"(\w+)"/.exec(answer)?.[1] ?? null,
})

describe('bodies', () => {
  const putRaw = (rawBody: BodyInit) => call(fixture.url, 'PUT', STATUS, { token: TOKEN, rawBody })

  const bad: [string, string | Uint8Array<ArrayBuffer>, ErrorCode][] = [
    ['nothing', '', 'bad_request'],
    ['words', 'text=hello', 'bad_request'],
    ['half an object', '{"text":"hello"', 'bad_request'],
    ['two objects', '{"text":"a"}{"text":"b"}', 'bad_request'],
    ['XML', '<text>hello</text>', 'bad_request'],
    ['null characters', '\0\0', 'bad_request'],
    ['lists 30,000 deep', '['.repeat(30_000) + ']'.repeat(30_000), 'bad_request'],
    ['lists 500,000 deep', '['.repeat(500_000) + ']'.repeat(500_000), 'bad_request'],
    [
      'a list 500,000 deep for a text',
      `{"text":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      'bad_request',
    ],
    ['bytes that are no UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'bad_request'],
    [
      'text that is no UTF-8',
      Uint8Array.from([...Buffer.from('{"text":"'), 0xc3, 0x28, 0x22, 0x7d]),
      'bad_request',
    ],
    ['a character cut off', Uint8Array.from([...Buffer.from('{"text":"a"} '), 0xf0, 0x9f]), 'bad_request'],
    ['UTF-16', new Uint8Array(Buffer.from('{"text":"hello"}', 'utf16le')), 'bad_request'],
    ['a text of 1 MiB', `{"text":"${'x'.repeat(BODY_BYTES_MAX - 11)}"}`, 'text_too_long'],
    ['a text of 1 MiB and a byte', `{"text":"${'x'.repeat(BODY_BYTES_MAX - 10)}"}`, 'too_large'],
    ['blanks of 3 MiB', ' '.repeat(3 * BODY_BYTES_MAX), 'too_large'],
  ]
  test.each(bad)('%s', async (_, body, code) => {
    await fixture.unharmed(async () => expectProblem(await putRaw(body), code))
  })

  test('a body of exactly 1 MiB is read', async () => {
    const body = `{"user_ids":["bob"]}`.padEnd(BODY_BYTES_MAX)
    const answer = await call<object[]>(fixture.url, 'POST', QUERY, { token: TOKEN, rawBody: body })
    expect(answer.status).toBe(200)
    expect(answer.body).toHaveLength(1)
    const tooLarge = await call(fixture.url, 'POST', QUERY, { token: TOKEN, rawBody: `${body} ` })
    expectProblem(tooLarge, 'too_large')
  })

  test('the type it claims to be does not matter, what it is does', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'nonsense',
    ]) {
      const options = { token: TOKEN, body: { user_ids: ['bob'] }, headers: { 'content-type': type } }
      expect((await call(fixture.url, 'POST', QUERY, options)).status).toBe(200)
    }
  })

  test('a body of unknown length is cut off as soon as it is too large', async () => {
    await fixture.unharmed(async () => {
      const raw = await openRaw(fixture.url)
      raw.write(
        `PUT ${STATUS} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Transfer-Encoding: chunked\r\n\r\n`,
      )
      const chunk = Buffer.concat([
        Buffer.from('10000\r\n'),
        Buffer.alloc(0x10000, 0x20),
        Buffer.from('\r\n'),
      ])
      // The answer comes although the body has no end.
      for (let sent = 0; sent <= BODY_BYTES_MAX; sent += 0x10000) raw.write(chunk)
      await raw.until(/"code":"too_large"/)
      expect(gist(raw.received()).status).toBe(413)
      raw.end()
    })
  })

  test('a length that is too large is refused before the body comes', async () => {
    await fixture.unharmed(async () => {
      const head = `PUT ${STATUS} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}`
      const said = await sendRaw(fixture.url, `${head}Content-Length: ${BODY_BYTES_MAX + 1}\r\n\r\n`)
      expect(gist(said)).toEqual({ status: 413, code: 'too_large' })
    })
  })

  const head = `PUT ${STATUS} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}`
  const cutOff: [string, string][] = [
    ['shorter than its length', `${head}Content-Length: 100\r\n\r\n{"text":"half of it"}`],
    ['a byte short', `${head}Content-Length: 21\r\n\r\n{"text":"half of it"`],
    ['without its last chunk', `${head}Transfer-Encoding: chunked\r\n\r\n15\r\n{"text":"half of it"}\r\n`],
    ['of no byte at all', `${head}Content-Length: 21\r\n\r\n`],
  ]
  test.each(cutOff)('a body %s is not applied', async (_, request) => {
    await fixture.unharmed(async () => {
      const raw = await openRaw(fixture.url)
      raw.socket.end(request)
      expect(gist(await raw.closed).status).toBeLessThan(500)
    })
  })
})

describe('addresses and headers', () => {
  const hosts = [
    '',
    ' ',
    '[',
    'a b',
    'x:99999999',
    '%zz<>',
    '\\',
    'é',
    '@',
    '?',
    '#',
    ':',
    '//',
    'evil.example',
  ]
  test.each(hosts)('the Host %p is not of this machine, and in dev mode gets nothing', async (host) => {
    const ask = (method: string, path: string) =>
      sendRaw(
        fixture.url,
        `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${AUTHORIZATION}Content-Length: 0\r\n\r\n`,
      )
    const refused = { status: 403, code: 'forbidden' }
    for (const path of ['/healthz', '/api/v1/presence?user_ids=bob', '/api/v1/presence/bob', '/api/v1/ws']) {
      expect(gist(await ask('GET', path))).toEqual(refused)
    }
    expect(gist(await ask('PUT', '/api/v1/presence/status'))).toEqual(refused)
    expect(gist(await ask('GET', '/nothing'))).toEqual({ status: 404, code: 'not_found' })
  })

  test('HTTP/1.0 without a Host is served', async () => {
    const answer = await sendRaw(fixture.url, `GET /api/v1/presence/bob HTTP/1.0\r\n${AUTHORIZATION}\r\n`)
    expect(gist(answer)).toEqual({ status: 200, code: null })
  })

  test('an address that grows too long when it is written out is refused', async () => {
    const path = Buffer.concat([
      Buffer.from('GET /'),
      Buffer.alloc(30_000, 0xe9),
      Buffer.from(' HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ])
    expect(gist(await sendRaw(fixture.url, path))).toEqual({ status: 413, code: 'too_large' })
  })

  const tooMuch: [string, string][] = [
    [
      'an address of 70 KB',
      `GET /api/v1/presence?user_ids=${'abc,'.repeat(17_500)}a HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    ],
    ['an address of 1 MB', `GET /${'a'.repeat(1_000_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    ['a header of 70 KB', `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`],
    [
      'a token of 70 KB',
      `GET /api/v1/presence/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${'a'.repeat(70_000)}\r\n\r\n`,
    ],
    ['500 headers', `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${'X: a\r\n'.repeat(500)}\r\n`],
  ]
  test.each(tooMuch)('%s', async (_, request) => {
    await fixture.unharmed(async () => expect(gist(await sendRaw(fixture.url, request)).status).toBe(431))
  })

  test('a head of exactly 64 KB is read, and not a byte more', async () => {
    const head = (bytes: number) => {
      const before = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: '
      const after = '\r\n\r\n'
      return before + 'a'.repeat(bytes - before.length - after.length) + after
    }
    expect(gist(await sendRaw(fixture.url, head(64 * 1024))).status).toBe(200)
    expect(gist(await sendRaw(fixture.url, head(64 * 1024 + 1))).status).toBe(431)
  })

  test('[R1] an address of 60 KB is refused for its ids', async () => {
    const path = `/api/v1/presence?user_ids=${'abc,'.repeat(15_000)}a`
    expectProblem(await call(fixture.url, 'GET', path, { token: TOKEN }), 'too_many_ids')
  })

  test.each([9_000, 60_000])('[C6] a token of %d bytes is refused as a token', async (bytes) => {
    expectProblem(
      await call(fixture.url, 'GET', '/api/v1/presence/a', { token: 'a'.repeat(bytes) }),
      'unauthorized',
    )
  })
})

describe('what is hardly a request', () => {
  const post = `POST ${QUERY} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}`
  const smuggled = `PUT ${STATUS} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Content-Length: 16\r\n\r\n{"text":"pwned"}`

  const refused: [string, string | Uint8Array][] = [
    ['words', 'hello world\r\n\r\n'],
    ['empty lines', '\r\n\r\n\r\n'],
    ['a TLS greeting', Uint8Array.from([0x16, 3, 1, 0, 200, 1, 0, 0, 0xc4, 3, 3, 0x0d, 0x0a, 0x0d, 0x0a])],
    ['noise', Uint8Array.from({ length: 2_000 }, (_, index) => (index * 7919) % 256)],
    ['null characters', new Uint8Array(4_096)],
    ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a method that objects have', 'constructor /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a request without a path', 'GET HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['no Host in HTTP/1.1', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a header of two lines', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n'],
    ['a null character in a header', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n'],
    ['a blank in the name of a header', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX y: a\r\n\r\n'],
    ['a length below zero', `${post}Content-Length: -1\r\n\r\n${smuggled}`],
    ['a length with a sign', `${post}Content-Length: +2\r\n\r\n{}${smuggled}`],
    ['a length in words', `${post}Content-Length: two\r\n\r\n{}${smuggled}`],
    ['a length beyond all numbers', `${post}Content-Length: 99999999999999999999\r\n\r\n{}`],
    ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}${smuggled}`],
    [
      'a length and chunks',
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['chunks of another kind', `${post}Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ['a chunk of no number', `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ['a chunk longer than it says', `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}${smuggled}`],
  ]
  test.each(refused)('%s is refused, and nothing hidden in it is done', async (_, bytes) => {
    await fixture.unharmed(async () => {
      const raw = await openRaw(fixture.url)
      raw.write(bytes)
      const received = await raw.closed
      for (const [, status] of received.matchAll(/HTTP\/1\.1 (\d{3})/g))
        expect(Number(status)).toBeWithin(400, 500)
    })
  })

  // All of these are answered in their turn; behind one that takes longer the runtime answers none (docs/protocol.md).
  test('requests one after the other on one connection are answered in order', async () => {
    const raw = await openRaw(fixture.url)
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}\r\n`
    raw.write(get('/healthz') + get('/api/v1/presence/bob') + get('/nothing') + get('/presence/batch'))
    await raw.until(/bad_request/)
    const statuses = Array.from(raw.received().matchAll(/HTTP\/1\.1 (\d{3})/g), (match) => Number(match[1]))
    expect(statuses).toEqual([200, 200, 404, 400])
    raw.end()
  })

  const upgrades: [string, string, number][] = [
    ['an old version', 'Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n', 426],
    ['a short key', 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n', 400],
    ['no key', 'Sec-WebSocket-Version: 13\r\n', 400],
  ]
  test.each(upgrades)('an upgrade with %s opens nothing', async (_, headers, status) => {
    await fixture.unharmed(async () => {
      const before = await fixture.stats()
      const request = `GET /api/v1/ws HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Upgrade: websocket\r\nConnection: Upgrade\r\n`
      expect(gist(await sendRaw(fixture.url, `${request}${headers}\r\n`)).status).toBe(status)
      expect((await fixture.stats()).connections).toBe(before.connections)
    })
  })

  test('500 silent sockets and 500 half requests do not keep other clients from being served', async () => {
    await fixture.unharmed(async () => {
      const sockets = await Promise.all(Array.from({ length: 1_000 }, () => openRaw(fixture.url)))
      for (const [index, raw] of sockets.entries()) if (index % 2 === 0) raw.write('GET /healthz HT')
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => call(fixture.url, 'GET', '/healthz')),
      )
      expect(answers.every(({ status }) => status === 200)).toBe(true)
      for (const raw of sockets) raw.end()
    })
  })
})
