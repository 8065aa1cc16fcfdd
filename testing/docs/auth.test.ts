// Keeps docs/auth.md true: its settings load and accept what the providers sign, its programs mint tokens that a
// server takes, and its table has every reason.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { REJECTION_REASONS } from '../../packages/server/src/http/access/rejection-log.ts'
import { useServers } from '../clients/clearing.ts'
import { type SettingsInput, startServer } from '../clients/server.ts'
import { call, expectProblem } from '../http/calls.ts'
import { SECRET, SERVER_KEY, secondsFromNow, securedSettings } from '../http/tokens.ts'
import { blocksOf, plain, ROOT, rowsOf, section } from './docs-text.ts'

const PATH = 'docs/auth.md'

const { serve: start, onEnd } = useServers()

const serve = async (settings: SettingsInput): Promise<string> =>
  (await start({ dev: false, ...settings })).url

const settingsIn = (heading: string): SettingsInput => {
  const [block] = blocksOf(PATH, 'json', section(PATH, heading))
  return JSON.parse(block!.text)
}

const read = (url: string, token: string) => call(url, 'GET', '/api/v1/presence/bob', { token })

describe('a plain backend', () => {
  test('[C6] has settings that a server takes', async () => {
    const { jwt_secret: secret, server_keys: keys } = settingsIn('A plain backend') as Record<string, unknown>
    const url = await serve({ jwt_secret: String(secret), server_keys: String(keys) })
    expect((await read(url, String(keys))).status).toBe(200)
  })

  /** The token that the program of the document prints. */
  async function minted(language: string, file: string, command: string[]): Promise<string> {
    // In the repository, where its packages are found.
    const folder = mkdtempSync(join(language === 'js' ? join(ROOT, 'testing') : tmpdir(), 'greendot-auth-'))
    onEnd(() => rmSync(folder, { recursive: true }))
    const [block] = blocksOf(PATH, language)
    writeFileSync(join(folder, file), block!.text)
    const child = Bun.spawn([...command, join(folder, file)], {
      env: { ...process.env, PRESENCE_SECRET: SECRET, PRESENCE_KEY: SERVER_KEY },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (child.exitCode !== 0) throw new Error(err)
    return out.trim()
  }

  const python = Bun.which('python3')
  const hasPyJwt = python !== null && Bun.spawnSync([python, '-c', 'import jwt']).success
  const go = Bun.which('go')
  const programs: [what: string, why: string, language: string, file: string, command: string[]][] = [
    ['Node', '', 'js', 'token.mjs', [process.execPath]],
    ['Python', hasPyJwt ? '' : ' (there is no python3 with PyJWT here)', 'python', 'token.py', [python!]],
    ['Go', go === null ? ' (there is no go here)' : '', 'go', 'token.go', [go!, 'run']],
  ]
  for (const [what, why, language, file, command] of programs) {
    test.skipIf(why !== '')(`[C6] in ${what} mints a token that a server takes${why}`, async () => {
      const token = await minted(language, file, command)
      const url = await serve(securedSettings)
      const answer = await call(url, 'DELETE', '/api/v1/presence/status', { token })
      expect(answer.body).toMatchObject({ user_id: 'alice' })
    })
  }
})

describe('providers', () => {
  const pair = generateKeyPair('RS256', { extractable: true })
  let keySet: ReturnType<typeof Bun.serve>
  beforeAll(async () => {
    const key = { ...(await exportJWK((await pair).publicKey)), alg: 'RS256', kid: 'k', use: 'sig' }
    keySet = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json({ keys: [key] }) })
  })
  afterAll(() => keySet.stop(true))

  const sign = async (claims: JWTPayload) =>
    new SignJWT({ iat: secondsFromNow(-1), exp: secondsFromNow(3600), ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'k', typ: 'JWT' })
      .sign((await pair).privateKey)

  /** Claims as the provider writes them, for this app and for others. */
  const providers: [string, own: JWTPayload, others: JWTPayload[]][] = [
    [
      'Firebase',
      {
        iss: 'https://securetoken.google.com/my-project',
        aud: 'my-project',
        auth_time: 1,
        sub: 'uQ7sH2Zr9XcVb3nM1kLpT5wEyA62',
        firebase: { sign_in_provider: 'password' },
      },
      [
        { iss: 'https://securetoken.google.com/other', aud: 'other' },
        { iss: 'https://securetoken.google.com/other', aud: 'my-project' },
      ],
    ],
    [
      'Auth0',
      {
        iss: 'https://my-tenant.eu.auth0.com/',
        aud: ['https://presence.example.org', 'https://my-tenant.eu.auth0.com/userinfo'],
        sub: 'auth0|5f7c8ec7c33c6c004bbafe82',
        scope: 'openid',
      },
      [
        { aud: 'https://shop.example.org' },
        { iss: 'https://other-tenant.eu.auth0.com/' },
        { iss: 'https://my-tenant.eu.auth0.com' },
      ],
    ],
  ]
  test.each(providers)(
    '[C6] %s: its tokens for this app are taken, and no others',
    async (name, own, others) => {
      const settings = settingsIn(name)
      expect(Object.keys(settings).sort()).toEqual(['jwks_url', 'jwt_audience', 'jwt_issuer'])
      expect(settings.jwks_url).toStartWith('https://')
      const url = await serve({ ...settings, jwks_url: `${keySet.url}keys` })
      const answer = await call(url, 'DELETE', '/api/v1/presence/status', { token: await sign(own) })
      expect(answer.body).toMatchObject({ user_id: own.sub! })
      for (const other of others)
        expectProblem(await read(url, await sign({ ...own, ...other })), 'unauthorized')
      const { aud: _, iss: __, ...without } = own
      expectProblem(await read(url, await sign(without)), 'unauthorized')
    },
  )
})

test('[C6] the table has every reason for which a token is rejected, and the line is as it is logged', async () => {
  const rows = rowsOf(section(PATH, 'When tokens are rejected'))
  expect(rows.map(([reason]) => plain(reason!)).sort()).toEqual([...REJECTION_REASONS].sort())
  const lines: string[] = []
  const settings = { ...securedSettings, jwt_audience: 'chat', log_level: 'warn' }
  const server = await startServer(settings, { log: (line) => void lines.push(line) })
  const [block] = blocksOf(PATH, 'json', section(PATH, 'When tokens are rejected'))
  await call(server.url, 'GET', '/api/v1/presence/bob', { token: await wrongAudience() })
  await server.stop()
  const shown = JSON.parse(block!.text)
  expect(lines.map((line) => JSON.parse(line))).toEqual([{ ...shown, time: expect.any(String) }])
})

const wrongAudience = (): Promise<string> =>
  new SignJWT({ sub: 'alice', aud: 'shop', exp: secondsFromNow(60) })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(SECRET))
