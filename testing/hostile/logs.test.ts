// What a server logs at the lowest level while it is flooded through every door with tokens, secrets and status texts in
// right and wrong places: none of them, and few lines.
import { describe, expect, test } from 'bun:test'
import { clearAfterEach } from '../clients/clearing.ts'
import { connect, openClient } from '../clients/client.ts'
import { connectGrpc } from '../grpc/client.ts'
import { registeredRoutes } from '../http/registered-routes.ts'
import { secondsFromNow, sign } from '../http/tokens.ts'
import { describeWithService } from '../services/describe.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { type LoggedServer, startLoggedServer } from './logged-server.ts'

const JWT_SECRET = 'needle-secret-of-more-than-32-bytes-0001'
const SERVER_KEY = 'needle-server-key-0002'
const TEXT = 'needle-status-text-0003'
const WRONG_SECRET = 'needle-wrong-secret-0004-of-32-bytes-or-more'
/** In a claim that is not the user. */
const CLAIM = 'needle-claim-0005'
const tokenOf = (sub: string, secret = JWT_SECRET) =>
  sign({ sub, exp: secondsFromNow(3600), note: CLAIM }, { secret })
const GOOD = tokenOf('alice')
const FORGED = tokenOf('alice', WRONG_SECRET)
const EXPIRED = sign({ sub: 'alice', exp: 1, note: CLAIM }, { secret: JWT_SECRET })
const BROKEN = 'needle-broken-token-0006'
/** Of a webhook whose endpoint fails. */
const WEBHOOK_SECRET = `whsec_${Buffer.from('needle-webhook-secret-0007-of-32').toString('base64')}`
/** Parts of tokens count too: the signature is what must not get out. */
const NEEDLES = [
  'needle',
  'whsec_',
  WEBHOOK_SECRET.slice(6, -2),
  ...[GOOD, FORGED, EXPIRED].flatMap((token) => [token, token.split('.')[2]!]),
  Buffer.from(CLAIM).toString('base64url').slice(2, -2),
]
const POISONS = [GOOD, FORGED, EXPIRED, BROKEN, SERVER_KEY, JWT_SECRET, TEXT, encodeURIComponent(GOOD)]

/** Times that each poison goes through each door. */
const ROUNDS = 10
/** One of each kind, each at most as often as a flood is allowed to. */
const LINES_MAX = 150

const onEnd = clearAfterEach()

async function start(flags: readonly string[] = []): Promise<LoggedServer> {
  const server = await startLoggedServer({ jwtSecret: JWT_SECRET, serverKey: SERVER_KEY }, flags)
  let stopped: Promise<void> | null = null
  const stop = () => {
    stopped ??= server.stop()
    return stopped
  }
  onEnd(stop)
  return { ...server, stop }
}

/** Everything that the server said until it ended. */
async function expectClean(server: LoggedServer): Promise<void> {
  await server.stop()
  const output = server.output()
  for (const needle of NEEDLES) {
    const at = output.indexOf(needle)
    if (at !== -1) throw new Error(`the log has ${needle}: ${output.slice(Math.max(0, at - 300), at + 100)}`)
  }
  for (const line of server.lines()) {
    expect(JSON.parse(line)).toMatchObject({
      level: expect.any(String),
      time: expect.any(String),
      msg: expect.any(String),
    })
  }
}

/** All that the server has, and two that are no routes of the table. */
const ROUTES = [
  ...(await registeredRoutes()),
  { method: 'GET', path: '/api/v1/ws' },
  { method: 'GET', path: '/nowhere/:here' },
]

/** The poison in the path, the query, the headers and the body, with a good token, with it as the token, and without. */
async function floodHttp(url: string, poison: string): Promise<number> {
  let answers = 0
  for (const { method, path } of ROUTES) {
    const where = path.replace(/:\w+/g, encodeURIComponent(poison.slice(0, 128)))
    const query = `?token=${poison}&user_ids=${poison}&viewer_id=${poison}&${poison}=1`
    const body = { text: TEXT, user_ids: [poison], device_id: poison, [poison]: TEXT, status: poison }
    const sent = [JSON.stringify(body), `{"text":"${TEXT}" ${poison}`]
    for (const token of [poison, GOOD, SERVER_KEY, null]) {
      const headers = {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        cookie: poison,
        'last-event-id': poison,
        'x-other': poison,
      }
      for (const text of method === 'GET' ? [undefined] : sent) {
        const response = await fetch(url + where + query, { method, headers, ...(text && { body: text }) })
        await response.body?.cancel()
        answers++
      }
    }
  }
  return answers
}

async function floodSockets(url: string, poison: string): Promise<void> {
  const refused = openClient(url, 'alice', { token: poison === GOOD ? FORGED : poison, deviceId: 'd' })
  await refused.closed
  const client = await connect(url, 'alice', { token: GOOD, deviceId: poison.slice(0, 128) })
  for (const frame of [
    { type: poison, text: TEXT },
    { type: 'set_custom_status', text: TEXT.repeat(50) },
    { type: 'set_custom_status', text: TEXT, emoji: poison },
    { type: 'set_availability', status: poison },
    { type: 'watch', user_ids: [poison, TEXT], known: { [poison]: TEXT } },
    { token: poison, ref: poison },
    `{"type":"heartbeat","token":"${poison}"`,
  ])
    client.send(frame)
  client.send({ type: 'unwatch', user_ids: ['x'], ref: 'last' })
  await client.next('ok', ({ ref }) => ref === 'last')
  client.close()
  await client.closed
}

/** Webhooks that fail at once, with a secret of ours and with one that is rotated, and one with a secret that is none. */
async function floodWebhooks(url: string): Promise<void> {
  const ask = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${SERVER_KEY}` }
    const response = await fetch(`${url}/api/v1/webhooks${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    })
    return (await response.json()) as { id: string; enabled: boolean }
  }
  const events = ['status.changed']
  await ask('POST', '', { url: 'https://gone.example.test/', events, secret: `${WEBHOOK_SECRET}!` })
  const wanted = { url: 'https://gone.example.test/', events, secret: WEBHOOK_SECRET }
  const { id } = await ask('POST', '', wanted)
  await ask('POST', `/${id}/test`, {})
  await ask('PATCH', `/${id}`, { rotate_secret: true })
  await ask('PATCH', `/${id}`, { secret: WEBHOOK_SECRET })
  const headers = { authorization: `Bearer ${SERVER_KEY}` }
  const body = JSON.stringify({ text: TEXT })
  await fetch(`${url}/api/v1/users/alice/status`, { method: 'PUT', headers, body })
  await until(WAIT_MS, 'a failed webhook', async () => {
    const found = await fetch(`${url}/api/v1/webhooks/${id}`, { headers })
    return ((await found.json()) as { last_failure: string | null }).last_failure !== null
  })
}

async function floodGrpc(address: string, poison: string): Promise<void> {
  const isAscii = /^[\x20-\x7e]*$/.test(poison)
  for (const token of isAscii ? [poison, GOOD] : [GOOD]) {
    const client = connectGrpc(address, token)
    const requests: [string, Record<string, unknown>][] = [
      ['GetPresence', { user_ids: [poison, TEXT] }],
      ['SetCustomStatus', { text: TEXT, emoji: poison }],
      ['RecordHeartbeat', { user_id: poison, device_id: poison }],
      ['Leave', { device_id: poison }],
    ]
    for (const [name, request] of requests) await client.call(name, request as never).catch(() => {})
    client.close()
  }
}

describe('the log of a flooded server', () => {
  test('[C6, S3, X8] has no token, no secret and no status text, and few lines', async () => {
    const server = await start(['--poll-burst=100000', '--write-burst=100000', '--sessions-per-user=1000'])
    let answers = 0
    await floodWebhooks(server.url)
    for (const poison of POISONS) {
      await floodSockets(server.url, poison)
      await floodGrpc(server.grpc, poison)
      answers += await floodHttp(server.url, poison)
    }
    // A flood of one kind through the cheapest door.
    for (let round = 0; round < ROUNDS * 100; round++) {
      const headers = { authorization: `Bearer ${POISONS[round % POISONS.length]}` }
      await (await fetch(`${server.url}/api/v1/presence/x?token=${BROKEN}`, { headers })).body?.cancel()
      answers++
    }
    expect(answers).toBeGreaterThan(1_500)
    await expectClean(server)
    expect(server.lines().length).toBeGreaterThan(5)
    expect(server.lines().length).toBeLessThan(LINES_MAX)
  })
})

describeWithService('the log of a server whose Redis fails', await findRedis(), startRedis, (redis) => {
  test('[C6, S3, X8] has what failed, and not what users wrote', async () => {
    const server = await start([`--redis-url=${redis().url}`, '--write-burst=100000'])
    const client = await connect(server.url, 'alice', { token: GOOD })
    client.send({ type: 'set_custom_status', text: TEXT, ref: 0 })
    await client.next('ok')
    // Every write is refused from now on, and the errors have the whole command.
    await redis().cli('config', 'set', 'maxmemory', '1')
    for (let ref = 1; ref <= 20; ref++) {
      client.send({ type: 'set_custom_status', text: `${TEXT} ${ref}`, ref })
      await client.next('error', (frame) => frame.ref === ref)
    }
    const isLogged = () => server.lines().some((line) => line.includes('OOM'))
    await until(WAIT_MS, 'a line about Redis', async () => isLogged())
    await redis().cli('config', 'set', 'maxmemory', '0')
    client.close()
    await expectClean(server)
    expect(server.lines().length).toBeLessThan(LINES_MAX)
  })
})
