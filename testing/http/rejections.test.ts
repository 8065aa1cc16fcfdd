// What the log says about rejected tokens: the reason and a number, in few lines, and nothing of the token.
import { expect, test } from 'bun:test'
import { openClient } from '../clients/client.ts'
import { startServer } from '../clients/server.ts'
import { call } from './calls.ts'
import { SECRET, SERVER_KEY, secondsFromNow, securedSettings, sign, unsigned } from './tokens.ts'

const FLOOD = 300
const AT_ONCE = 50

interface Line {
  level: string
  msg: string
  reason?: string
  suppressed?: number
}

test('[C6] a flood of bad tokens leaves few lines with reasons, and no token or secret', async () => {
  const lines: string[] = []
  const audience = { jwt_audience: 'chat' }
  const settings = { ...securedSettings, ...audience, log_level: 'info' }
  const server = await startServer(settings, { log: (line) => void lines.push(line) })
  const claims = (index: number) => ({
    sub: `user-${index}-of-the-flood`,
    exp: secondsFromNow(60),
    aud: 'chat',
  })
  const kinds: Record<string, (index: number) => string> = {
    expired: (index) => sign({ ...claims(index), exp: secondsFromNow(-60) }),
    'bad signature': (index) => sign(claims(index), { secret: `${SECRET}!` }),
    'no sub': (index) => sign({ ...claims(index), sub: undefined, jti: `${index}` }),
    'wrong audience': (index) => sign({ ...claims(index), aud: `shop-${index}` }),
    'algorithm not allowed': (index) => unsigned(claims(index)),
    'not a JWT and not a server key': (index) => `${SERVER_KEY}${index}`,
  }
  const names = Object.keys(kinds)
  const sent: string[] = []
  const startedAt = performance.now()
  for (let index = 0; index < FLOOD; index += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, (_, offset) => {
      const number = index + offset
      return kinds[names[number % names.length]!]!(number)
    })
    sent.push(...batch)
    const answers = await Promise.all(
      batch.map((token, offset) =>
        offset % 2 === 0
          ? call(server.url, 'GET', '/api/v1/presence/bob', { token })
          : call(server.url, 'GET', `/api/v1/stream?user_ids=bob&token=${token}`),
      ),
    )
    for (const { status } of answers) expect(status).toBe(401)
  }
  const socket = openClient(server.url, '', { token: sent[0]! })
  await socket.closed
  sent.push(sent[0]!)
  const intervals = Math.floor((performance.now() - startedAt) / 10_000) + 2
  // The stop logs what was still counted.
  await server.stop()

  const told = lines
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'a token was rejected')
  expect([...new Set(told.map(({ reason }) => reason!))].sort()).toEqual(names.toSorted())
  for (const name of names) {
    const own = told.filter(({ reason }) => reason === name)
    expect(own[0]).toMatchObject({ level: 'warn', suppressed: 0 })
    expect(own.length).toBeLessThanOrEqual(intervals)
  }
  // Every rejection is logged or counted: a line with a number stands for that many.
  const counted = told.reduce((sum, { suppressed }) => sum + (suppressed === 0 ? 1 : suppressed!), 0)
  expect(counted).toBe(sent.length)

  const log = lines.join('')
  for (const token of sent) {
    for (const part of [token, ...token.split('.')]) if (part.length > 8) expect(log).not.toContain(part)
  }
  for (const secret of [SECRET, SERVER_KEY, 'of-the-flood', 'shop-']) expect(log).not.toContain(secret)
})

test('[C6] a key set without audience and issuer is warned about at the start, once', async () => {
  const start = async (settings: Record<string, string>) => {
    const lines: string[] = []
    const keySet = { dev: false, jwks_url: 'http://127.0.0.1:1/keys', log_level: 'warn', ...settings }
    const server = await startServer(keySet, { log: (line) => void lines.push(line) })
    await server.stop()
    return lines.map((line) => JSON.parse(line).msg as string)
  }
  expect(await start({})).toEqual([expect.stringContaining('jwks_url is set without jwt_audience')])
  expect(await start({ jwt_audience: 'chat' })).toEqual([])
})
