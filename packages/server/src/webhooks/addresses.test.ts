// Which addresses webhooks may go to, by a table of addresses and of names that resolve to them.
import { describe, expect, test } from 'bun:test'
import { type Address, isPublicAddress, resolveTarget, urlProblem } from './addresses.ts'

const REFUSED = [
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.0.9',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
]
const ALLOWED = [
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '192.0.1.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::200e',
  '2001:4860:4860::8888',
]

describe('addresses', () => {
  test.each(REFUSED)('[X5] [C6] %s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
  test.each(ALLOWED)('[X5] %s is public', (address) => expect(isPublicAddress(address)).toBe(true))
})

describe('URLs', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0177.0.0.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fd00::1]:8443/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'http://example.com/',
    'gopher://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user@example.com/',
    'https://example.com/#x',
    '//example.com',
    '',
  ])('[X5] [C6] %s is refused', (url) => expect(urlProblem(url, false)).not.toBeNull())

  test.each([
    'https://example.com/',
    'https://example.com:8443/a?b=c',
    'https://1.1.1.1/',
    'https://bücher.example/',
  ])('[X5] %s is fine', (url) => expect(urlProblem(url, false)).toBeNull())

  test('[X5] private networks may be named where they are allowed', () => {
    for (const url of ['http://127.0.0.1:3000/', 'http://hooks.internal/', 'https://localhost/'])
      expect(urlProblem(url, true)).toBeNull()
    expect(urlProblem('ftp://127.0.0.1/', true)).not.toBeNull()
  })
})

describe('names', () => {
  const answers =
    (...found: string[]) =>
    async (): Promise<Address[]> =>
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

  test('[X5] [C6] one private answer among public ones is enough to refuse', async () => {
    const resolved = await resolveTarget('example.com', false, answers('1.1.1.1', '10.0.0.1'))
    expect(resolved).toEqual({
      ok: false,
      because: 'example.com is at 10.0.0.1, which is not an address of the public internet',
    })
    expect((await resolveTarget('example.com', false, answers('1.1.1.1', '::1'))).ok).toBe(false)
  })

  test('[X5] all answers that were checked are returned, and an address needs no answer', async () => {
    expect(await resolveTarget('example.com', false, answers('1.1.1.1', '2606:4700::1111'))).toEqual({
      ok: true,
      addresses: [
        { address: '1.1.1.1', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    })
    const never = () => Promise.reject(new Error('asked'))
    expect(await resolveTarget('127.0.0.1', true, never)).toMatchObject({ ok: true })
    expect(await resolveTarget('127.0.0.1', false, never)).toMatchObject({ ok: false })
    expect(await resolveTarget('example.com', true, never)).toEqual({
      ok: false,
      because: 'example.com has no address',
    })
  })
})
