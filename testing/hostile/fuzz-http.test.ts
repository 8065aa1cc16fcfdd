// Noise over HTTP: whatever is asked, however, of whatever, the answer is never a 5xx and a refusal is
// always a problem document. A failure names its seed; run with FUZZ_SEED=<seed> to get it again.
import { describe, expect, test } from 'bun:test'
import { type CallOptions, call } from '../http/calls.ts'
import { useAttackFixture } from './fixture.ts'
import { createNoise, fuzzSeed, type Noise } from './noise.ts'
import { openRaw } from './raw-socket.ts'

const REQUESTS = 3_000
const AT_ONCE = 20
const RAW_REQUESTS = 600
const RAW_AT_ONCE = 20

const fixture = useAttackFixture()

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']
const PATHS = [
  '/api/v1/presence',
  '/api/v1/presence/query',
  '/api/v1/presence/bob',
  '/presence/batch',
  '/api/v1/presence/status',
  '/api/v1/presence/availability',
  '/api/v1/heartbeat',
  '/api/v1/leave',
  '/api/v1/stats',
  '/api/v1/ws',
  '/healthz',
  '/readyz',
  '/metrics',
  '/nowhere',
]
/** No user of the fixture. */
const TOKENS = ['dev', 'dev:fuzz-1', 'dev:fuzz-2', 'dev:__proto__', 'dev:', 'garbage', 'a.b.c']
const HEADERS = [
  'content-type',
  'origin',
  'accept',
  'x-forwarded-for',
  'if-none-match',
  'range',
  'cookie',
  'upgrade',
]

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

function randomPath(noise: Noise): string {
  let path = noise.pick(PATHS)
  if (noise.chance(0.2)) path += `/${encoded(noise.text(20))}`
  if (noise.chance(0.05)) path = `/${encoded(noise.text(40))}`
  const parameters: string[] = []
  if (noise.chance(0.6)) {
    const ids = Array.from({ length: noise.number(6) }, () => (noise.chance(0.8) ? 'bob' : noise.text(10)))
    parameters.push(`user_ids=${noise.chance(0.5) ? ids.map(encoded).join() : encoded(ids.join())}`)
  }
  if (noise.chance(0.2)) parameters.push(`viewer_id=${encoded(noise.text(5))}`)
  if (noise.chance(0.2)) parameters.push(`${encoded(noise.text(5))}=${encoded(noise.text(30))}`)
  // A percent sign that begins nothing, which URLs let through.
  if (noise.chance(0.1)) parameters.push('user_ids=%', '%zz=%f', '%ff')
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
}

const BODIES: object[] = [
  { user_ids: ['bob', 'x'] },
  { text: 'hello', emoji: '🙂', expires_at: Date.UTC(2099, 0, 1) },
  { status: 'busy' },
  { device_id: 'd', platform: 'web', activity: 'idle' },
]

function randomBody(noise: Noise): BodyInit {
  const kind = noise.number(10)
  if (kind < 3) return JSON.stringify(noise.pick(BODIES))
  if (kind < 6) return noise.mutated(JSON.stringify(noise.pick(BODIES)))
  if (kind < 8) return JSON.stringify(noise.json() ?? null)
  return kind === 8 ? noise.bytes(300) : noise.text(300)
}

function randomCall(noise: Noise): [string, string, CallOptions] {
  const method = noise.pick(METHODS)
  const headers: Record<string, string> = {}
  if (noise.chance(0.3)) {
    // What a header may hold: anything printable.
    headers[noise.pick(HEADERS)] = noise.text(30).replace(/[^\x21-\x7e]/g, '') || 'x'
  }
  const options: CallOptions = { headers }
  if (noise.chance(0.9)) options.token = noise.pick(TOKENS)
  if (method !== 'GET' && method !== 'HEAD' && noise.chance(0.8)) options.rawBody = randomBody(noise)
  return [method, randomPath(noise), options]
}

async function withSeed(run: (noise: Noise) => Promise<void>): Promise<void> {
  const seed = fuzzSeed()
  try {
    await fixture.unharmed(() => run(createNoise(seed)))
  } catch (error) {
    throw new Error(`with FUZZ_SEED=${seed}`, { cause: error })
  }
}

describe('noise over HTTP', () => {
  test(`${REQUESTS} random requests`, async () => {
    const statuses = new Map<number, number>()
    await withSeed(async (noise) => {
      for (let asked = 0; asked < REQUESTS; asked += AT_ONCE) {
        const calls = Array.from({ length: AT_ONCE }, () => randomCall(noise))
        await Promise.all(
          calls.map(async ([method, path, options]) => {
            try {
              // A refusal that is no problem document fails in here.
              const { status } = await call(fixture.url, method, path, options)
              expect(status).toBeLessThan(500)
              statuses.set(status, (statuses.get(status) ?? 0) + 1)
            } catch (error) {
              throw new Error(`${method} ${path} ${JSON.stringify(options)}`, { cause: error })
            }
          }),
        )
      }
    })
    // Noise that is always refused for the same reason would prove little.
    for (const status of [200, 204, 400, 401, 403, 404, 405]) {
      expect([status, (statuses.get(status) ?? 0) > 20]).toEqual([status, true])
    }
  })

  test(`${RAW_REQUESTS} requests with random bytes in them`, async () => {
    await withSeed(async (noise) => {
      for (let sent = 0; sent < RAW_REQUESTS; sent += RAW_AT_ONCE) {
        const requests = Array.from({ length: RAW_AT_ONCE }, () => randomBytes(noise))
        await Promise.all(
          requests.map(async (request) => {
            const raw = await openRaw(fixture.url)
            raw.socket.end(request, 'latin1')
            const received = await raw.closed
            for (const [, status] of received.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
              // 505 is what Bun says to a version that is none.
              if (Number(status) >= 500 && status !== '505')
                throw new Error(JSON.stringify({ request, received }))
            }
          }),
        )
      }
    })
  })
})

/** A request as text, one character a byte, with a few things wrong with it. */
function randomBytes(noise: Noise): string {
  const [method, path] = randomCall(noise)
  const token = noise.pick(TOKENS)
  const body = JSON.stringify(noise.pick(BODIES))
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${token}`]
  if (method !== 'GET') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  const request = `${lines.join('\r\n')}\r\n\r\n${method === 'GET' ? '' : body}`
  return noise.chance(0.2) ? Buffer.from(noise.bytes(400)).toString('latin1') : noise.mutated(request)
}
