// Calls that the server puts off, answers wrongly or does not answer. The server is a real one with scripted
// answers; time and randomness are those of the test.
import { describe, expect, test } from 'bun:test'
import { clearAfterEach } from '../../../../testing/clients/clearing.ts'
import { ambientRuntime, type Timer } from '../platform.ts'
import { type Call, createCall } from './call.ts'
import { GreendotError } from './error.ts'

type Answer = (request: Request) => Response | Promise<Response>

const onEnd = clearAfterEach()

const NOW = Date.UTC(2030, 0, 1)
const TIMEOUT_MS = 60_000
const RETRIES_MAX = 3
const ok: Answer = () => Response.json({ user_ids: ['bob'] })
const busy =
  (status: number, retryAfter?: string): Answer =>
  () =>
    new Response('<html>', { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } })

/** Gives one answer after the other, and then the last one again. Pauses take no time and are recorded. */
function scripted(answers: Answer[], chance = 0.5) {
  const requests: string[] = []
  const pausesMs: number[] = []
  let now = NOW
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname} ${await request.clone().text()}`)
      return answers[Math.min(requests.length, answers.length) - 1]!(request)
    },
  })
  onEnd(() => server.stop(true))
  const running: { endsAt: number; run: () => void }[] = []
  const runtime = {
    ...ambientRuntime(),
    now: () => now,
    random: () => chance,
    after(delayMs: number, run: () => void): Timer {
      // The limit of the call, which ends only by `expire`.
      if (now + delayMs === NOW + TIMEOUT_MS) {
        const end = { endsAt: now + delayMs, run }
        running.push(end)
        return { stop: () => void running.splice(running.indexOf(end), 1) }
      }
      pausesMs.push(delayMs)
      now += delayMs
      queueMicrotask(run)
      return { stop() {} }
    },
  }
  const baseUrl = server.url.origin
  const parts = { baseUrl, serverKey: 'a key', timeoutMs: TIMEOUT_MS, retriesMax: RETRIES_MAX, runtime }
  return {
    call: createCall(parts),
    baseUrl,
    requests,
    pausesMs,
    timersLeft: () => running.length,
    expire() {
      now = NOW + TIMEOUT_MS
      for (const { run } of running) run()
    },
  }
}

const readContacts = (call: Call) =>
  call('GET /api/v1/users/{user_id}/contacts', { path: { user_id: 'ada' } })

async function refusalOf(promise: Promise<unknown>): Promise<GreendotError> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof GreendotError) return outcome
  throw new Error(`not refused, but ${outcome}`)
}

describe('a call that is refused for now', () => {
  test.each([429, 502, 503, 504])('[C7] with %d is retried until it is answered', async (status) => {
    const { call, requests, pausesMs, timersLeft } = scripted([busy(status), busy(status), ok])
    expect((await readContacts(call)).answer).toEqual({ user_ids: ['bob'] })
    expect(requests).toHaveLength(3)
    // Half of 200 and half of 400, because random() is 0.5.
    expect(pausesMs).toEqual([100, 200])
    expect(timersLeft()).toBe(0)
  })

  test('[C7] waits for the time in Retry-After, plus a random part', async () => {
    const at = new Date(NOW + 5_000).toUTCString()
    const { call, pausesMs } = scripted([busy(503, '2'), busy(429, '0'), ok])
    await readContacts(call)
    expect(pausesMs).toEqual([2_100, 200])
    const dated = scripted([busy(503, at), ok])
    await readContacts(dated.call)
    expect(dated.pausesMs).toEqual([5_100])
    const odd = scripted([busy(503, 'soon'), ok])
    await readContacts(odd.call)
    expect(odd.pausesMs).toEqual([100])
  })

  test('[C7] fails with the last answer after the maximum of retries', async () => {
    const { call, requests, pausesMs } = scripted([busy(503, '1')], 0)
    const refusal = await refusalOf(readContacts(call))
    expect(refusal).toMatchObject({ code: 'unavailable', status: 503, retryAfterMs: 1_000 })
    expect(requests).toHaveLength(1 + RETRIES_MAX)
    expect(pausesMs).toEqual([1_000, 1_000, 1_000])
  })

  test('[C7] is not retried if the pause would exceed its limit', async () => {
    const { call, requests, pausesMs } = scripted([busy(429, '60')], 0)
    const refusal = await refusalOf(readContacts(call))
    expect(refusal).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: 60_000 })
    expect(requests).toHaveLength(1)
    expect(pausesMs).toEqual([])
  })

  test('[C7] is retried with its body if it is a repeatable POST', async () => {
    const { call, requests } = scripted([busy(503), ok])
    const input = { path: { user_id: 'ada' }, body: { user_ids: ['bob'] } }
    await call('POST /api/v1/users/{user_id}/contacts', input)
    const line = 'POST /api/v1/users/ada/contacts {"user_ids":["bob"]}'
    expect(requests).toEqual([line, line])
  })

  test('[C7] is not retried if it is another POST', async () => {
    const { call, requests } = scripted([busy(503), ok])
    // There is no such POST yet; a new one is not repeatable unless it is listed.
    const post = call as unknown as (name: string, input: object) => Promise<unknown>
    expect((await refusalOf(post('POST /api/v1/something', {}))).status).toBe(503)
    expect(requests).toHaveLength(1)
  })

  test.each([400, 401, 403, 404, 413, 500])('[C7] is not retried after %d', async (status) => {
    const { call, requests } = scripted([busy(status, '1'), ok])
    expect((await refusalOf(readContacts(call))).status).toBe(status)
    expect(requests).toHaveLength(1)
  })
})

describe('a call without an answer', () => {
  test('[C7] is retried when the connection breaks', async () => {
    const body = '{"user_ids":["bob"]}'
    let connections = 0
    const server = Bun.listen({
      port: 0,
      hostname: '127.0.0.1',
      socket: {
        open: () => void connections++,
        data(socket) {
          // The first answer is shorter than its content-length.
          const length = connections === 1 ? body.length + 1 : body.length
          socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`)
        },
      },
    })
    onEnd(() => server.stop(true))
    const baseUrl = `http://127.0.0.1:${server.port}`
    const runtime = { ...ambientRuntime(), random: () => 0 }
    const call = createCall({ baseUrl, serverKey: 'a key', timeoutMs: 60_000, retriesMax: 1, runtime })
    expect((await readContacts(call)).answer).toEqual({ user_ids: ['bob'] })
    expect(connections).toBe(2)
  })

  test('[C7] fails with unavailable if there is no server', async () => {
    const closed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const baseUrl = closed.url.origin
    await closed.stop(true)
    const runtime = ambientRuntime()
    const call = createCall({ baseUrl, serverKey: 'a key', timeoutMs: 60_000, retriesMax: 0, runtime })
    const refusal = await refusalOf(readContacts(call))
    expect(refusal).toMatchObject({ code: 'unavailable', status: 0, detail: `${baseUrl} cannot be reached` })
    expect(refusal.cause).toBeDefined()
  })

  test.each(['at all', 'to its end'])('[C7] %s ends at its limit', async (how) => {
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<Response>()
    onEnd(() => held.resolve(new Response()))
    const half = new ReadableStream({ start: (stream) => stream.enqueue('{"user') })
    const world = scripted([
      () => {
        asked.resolve()
        return how === 'at all' ? held.promise : new Response(half)
      },
    ])
    const refusal = refusalOf(readContacts(world.call))
    await asked.promise
    world.expire()
    expect(await refusal).toMatchObject({
      code: 'unavailable',
      status: 0,
      detail: `no answer within ${TIMEOUT_MS} ms`,
    })
    expect(world.requests).toHaveLength(1)
    expect(world.timersLeft()).toBe(0)
  })
})

describe('an answer', () => {
  test('[R3] has isDegraded if it is from the database only', async () => {
    const degraded = () => Response.json([], { headers: { 'greendot-degraded': 'true' } })
    const { call } = scripted([degraded, () => Response.json([])])
    const ask = () => call('POST /api/v1/presence/query', { query: {}, body: { user_ids: [] } })
    expect((await ask()).isDegraded).toBe(true)
    expect((await ask()).isDegraded).toBe(false)
  })

  test('[C7] other than JSON is an error', async () => {
    const { call } = scripted([() => new Response('<html>Welcome</html>')])
    const refusal = await refusalOf(readContacts(call))
    expect(refusal).toMatchObject({ code: 'internal', status: 200 })
    expect(refusal.detail).toContain('not JSON')
  })

  test('[C7] with an unknown code is passed on', async () => {
    const problem = { code: 'quota_used_up', detail: 'Come back tomorrow', status: 402 }
    const { call } = scripted([() => Response.json(problem, { status: 402 })])
    expect(await refusalOf(readContacts(call))).toMatchObject(problem)
  })
})
