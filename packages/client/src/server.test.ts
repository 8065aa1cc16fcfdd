// The backend kit against a real server with a secret and server keys.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from '../../../testing/clients/client.ts'
import { startServer, type TestServer } from '../../../testing/clients/server.ts'
import { unknown } from '../../../testing/http/calls.ts'
import { SECRET, SERVER_KEY, securedSettings, userToken } from '../../../testing/http/tokens.ts'
import { type Backend, type BackendOptions, GreendotError, greendot, type Presence } from './server.ts'

let server: TestServer
let backend: Backend
beforeAll(async () => {
  server = await startServer(securedSettings)
  backend = greendot({ url: server.url, serverKey: SERVER_KEY, jwtSecret: SECRET })
})
afterAll(() => server.stop())

const arrive = (userId: string) => connect(server.url, '', { token: userToken(userId), platform: 'web' })
const unknownUser = (userId: string): Presence => ({ ...unknown(userId), devices: [] })
const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

async function refusalOf(call: Promise<unknown>): Promise<GreendotError> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof GreendotError) return outcome
  throw new Error(`not refused, but ${outcome}`)
}

describe('tokens', () => {
  test.each(['ada', 'user@example.org', '日本語', '👩‍🚀', 'a/b?c#d%20', '"\\'])(
    '[C6] %p connects with a minted token',
    async (userId) => {
      const person = await connect(server.url, '', { token: await backend.token(userId) })
      expect(person.welcome.user_id).toBe(userId)
      person.close()
    },
  )

  test('[C6] last an hour by default', async () => {
    const before = Math.floor(Date.now() / 1000)
    const hour = claimsOf(await backend.token('ada'))
    expect(hour.exp - hour.iat).toBe(3600)
    const minute = claimsOf(await backend.token('ada', { ttlMs: 60_000 }))
    expect(minute.exp - minute.iat).toBe(60)
    expect(hour.iat).toBeGreaterThanOrEqual(before)
    expect(hour.iat).toBeLessThanOrEqual(Date.now() / 1000)
  })

  test('[C6] have the audience and the issuer that the server asks for', async () => {
    const claimed = { jwtSecret: SECRET, jwtAudience: 'chat', jwtIssuer: 'https://id.test/' }
    const strict = await startServer({
      ...securedSettings,
      jwt_audience: 'game,chat',
      jwt_issuer: claimed.jwtIssuer,
    })
    const statusWith = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${strict.url}/api/v1/presence/ada`, { headers })).status
    }
    const own = greendot({ url: strict.url, serverKey: SERVER_KEY, ...claimed })
    expect(await statusWith(await own.token('ada'))).toBe(200)
    expect(await statusWith(await backend.token('ada'))).toBe(401)
    await strict.stop()
  })

  test('[C6] are not minted for an invalid id or TTL', async () => {
    expect(await refusalOf(backend.token('a b'))).toMatchObject({ code: 'invalid_id', status: 400 })
    for (const ttlMs of [0, 999, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(backend.token('ada', { ttlMs })).rejects.toThrow(RangeError)
    }
  })

  test('[C6] need no secret in dev mode, and otherwise the error names jwtSecret', async () => {
    const dev = greendot({ url: server.url, serverKey: 'dev' })
    expect(await dev.token('ada')).toBe('dev:ada')
    expect((await refusalOf(dev.token('a b'))).code).toBe('invalid_id')
    const keyOnly = greendot({ url: server.url, serverKey: SERVER_KEY })
    expect(keyOnly.token('ada')).rejects.toThrow('jwtSecret')
  })

  const wrong: [string, Partial<BackendOptions>, string][] = [
    ['no server key', { serverKey: '' }, 'serverKey is missing'],
    ['a short secret', { jwtSecret: 'short' }, '32 bytes'],
    ['an empty secret', { jwtSecret: '' }, '32 bytes'],
    ['an invalid url', { url: 'here' }, 'not here'],
    ['a url with another protocol', { url: 'ws://127.0.0.1' }, 'http: or https:'],
  ]
  test.each(wrong)('[C6] %s is an error at once', (_, options, problem) => {
    expect(() => greendot({ url: server.url, serverKey: SERVER_KEY, ...options })).toThrow(problem)
  })
})

describe('reading', () => {
  test('[R1] one, several and no users, in the order of the ids', async () => {
    await arrive('rita')
    expect(await backend.presence('rita')).toMatchObject({
      status: 'online',
      devices: ['web'],
      source: 'live',
    })
    const { people, isDegraded } = await backend.query(['x', 'rita', 'y', 'x'])
    expect(people.map(({ user_id }) => user_id)).toEqual(['x', 'rita', 'y', 'x'])
    expect(people[0]).toEqual(unknownUser('x'))
    expect(isDegraded).toBe(false)
    expect(await backend.query([])).toEqual({ people: [], isDegraded: false })
  })

  test('[R1] 10,001 users in eleven calls', async () => {
    const ids = names(10_001, 'many')
    const { people } = await backend.query(ids)
    expect(people.map(({ user_id }) => user_id)).toEqual(ids)
  })

  test('[S6] as a viewer sees it, and without a viewer', async () => {
    await arrive('shy')
    await backend.settings.change('shy', { status_visibility: 'nobody' })
    expect((await backend.presence('shy', { viewerId: 'ada' })).status).toBe('offline')
    expect((await backend.query(['shy'], { viewerId: 'ada' })).people[0]).toEqual(unknownUser('shy'))
    expect((await backend.presence('shy')).status).toBe('online')
    const { answer, because } = await backend.explain('shy', { viewerId: 'ada' })
    expect(answer.status).toBe('offline')
    expect(because.length).toBeGreaterThan(0)
    expect((await backend.explain('shy')).answer.status).toBe('online')
  })

  test('[R1] an id may look like a route or a folder', async () => {
    for (const id of ['settings', 'query', 'status', '.', '..', 'a/b']) {
      expect(await backend.presence(id)).toEqual(unknownUser(id))
    }
  })

  test('[X8] stats and their history', async () => {
    expect((await backend.stats()).uptime_ms).toBeGreaterThanOrEqual(0)
    expect((await backend.statsHistory()).samples).toBeInstanceOf(Array)
  })
})

describe('on behalf of a user', () => {
  test('[W2] contacts are read, replaced, added and removed', async () => {
    const { contacts } = backend
    expect(await contacts.list('olga')).toEqual([])
    await contacts.replace('olga', ['a', 'b'])
    await contacts.add('olga', ['c'])
    await contacts.remove('olga', ['a', 'unknown'])
    expect(await contacts.list('olga')).toEqual(['b', 'c'])
    await contacts.replace('olga', [])
    expect(await contacts.list('olga')).toEqual([])
  })

  test('[W2] ids with special characters work in paths', async () => {
    for (const id of ['a/b', '../ada', 'a?b=c', '%2F', '日本語']) {
      await backend.contacts.add(id, [id])
      expect(await backend.contacts.list(id)).toEqual([id])
    }
  })

  test('[W2] a list of any length is added and removed', async () => {
    const { contacts } = backend
    // Ids of the maximum length in bytes, so that each call has the largest body.
    const many = names(9_001, `"${'\\'.repeat(110)}`)
    await contacts.add('popular', many)
    expect(await contacts.list('popular')).toHaveLength(many.length)
    await contacts.remove('popular', many)
    expect(await contacts.list('popular')).toEqual([])
    await contacts.add('popular', [])
  })

  test('[S5] settings merge, and null returns to the default', async () => {
    const before = await backend.settings.read('tom')
    expect(before).toMatchObject({ status_visibility: 'everyone', deny: [] })
    await backend.settings.change('tom', { status_visibility: 'contacts', deny: ['mallory'] })
    const after = await backend.settings.change('tom', { reciprocal: true, deny: undefined })
    expect(after).toMatchObject({ status_visibility: 'contacts', deny: ['mallory'], reciprocal: true })
    await backend.settings.change('tom', { status_visibility: null, deny: [], reciprocal: false })
    expect(await backend.settings.read('tom')).toEqual(before)
  })

  test('[S1, S3] availability and custom status, with instants of every kind', async () => {
    await arrive('uma')
    const expiresAt = Date.UTC(2099, 0, 1)
    for (const instant of [expiresAt, new Date(expiresAt), '2099-01-01T00:00:00Z']) {
      const busy = await backend.setAvailability('uma', 'busy', { expiresAt: instant })
      expect(busy).toMatchObject({ availability: 'busy', availability_expires_at: expiresAt })
      const set = await backend.setCustomStatus('uma', { text: 'Away', emoji: '🌴', expiresAt: instant })
      expect(set.custom_status).toEqual({ text: 'Away', emoji: '🌴', expires_at: expiresAt })
    }
    expect((await backend.setAvailability('uma', 'online')).availability).toBe('auto')
    expect((await backend.setCustomStatus('uma', { emoji: '🌴' })).custom_status?.text).toBeNull()
    expect((await backend.setCustomStatus('uma', null)).custom_status).toBeNull()
  })

  test('[X6] the data of a user is exported and erased', async () => {
    await backend.contacts.replace('vera', ['ada'])
    await backend.setCustomStatus('vera', { text: 'Here' })
    const data = await backend.export('vera')
    expect(data).toMatchObject({
      user_id: 'vera',
      contacts: ['ada'],
      presence: { custom_status: { text: 'Here' } },
    })
    await backend.erase('vera')
    expect((await backend.export('vera')).contacts).toEqual([])
    expect(await backend.presence('vera')).toEqual(unknownUser('vera'))
  })
})

describe('refusals', () => {
  test('[C6] are errors with code, status and detail', async () => {
    const past = await refusalOf(backend.setAvailability('ada', 'busy', { expiresAt: 1 }))
    expect(past).toMatchObject({
      name: 'GreendotError',
      code: 'invalid_expiry',
      status: 400,
      retryAfterMs: null,
    })
    expect(past.message).toBe(`invalid_expiry: ${past.detail}`)
    const other = greendot({ url: server.url, serverKey: 'another-key-of-some-length' })
    expect(await refusalOf(other.stats())).toMatchObject({ code: 'unauthorized', status: 401 })
  })

  test('[W2] a list over the limit of a body is refused, and nothing changes', async () => {
    const refusal = await refusalOf(backend.contacts.replace('huge', names(60_000, 'user-with-a-name')))
    expect(refusal).toMatchObject({ code: 'too_large', status: 413 })
    expect(await backend.contacts.list('huge')).toEqual([])
  })

  test('[X6] erase refuses ids that do not fit into a path', async () => {
    for (const id of ['', '.', '..', 'a b', undefined as unknown as string]) {
      expect(await refusalOf(backend.erase(id))).toMatchObject({ code: 'invalid_id', status: 400 })
    }
  })

  test('[X8] the url of the server may have a path', async () => {
    const proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname, search } = new URL(request.url)
        if (!pathname.startsWith('/presence-server/api/')) return new Response('lost', { status: 404 })
        return fetch(server.url + pathname.slice('/presence-server'.length) + search, request)
      },
    })
    const behind = greendot({ url: `${proxy.url}presence-server/`, serverKey: SERVER_KEY })
    expect((await behind.stats()).uptime_ms).toBeGreaterThanOrEqual(0)
    const astray = greendot({ url: proxy.url, serverKey: SERVER_KEY })
    expect(await refusalOf(astray.stats())).toMatchObject({ code: 'not_found', status: 404 })
    await proxy.stop(true)
  })
})
