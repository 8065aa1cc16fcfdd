// The program as its users meet it: a process with arguments, an environment, a working folder,
// two streams and an exit code. Every test spawns the real thing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { runCli } from '../../../../testing/clients/cli.ts'
import { createAuthenticator } from '../http/access/auth.ts'
import { systemClock } from '../platform/clock.ts'
import { flagOf, SETTING_NAMES } from '../platform/config/settings.ts'
import { VERSION } from '../platform/version.ts'
import { COMMANDS } from './commands.ts'

const SECRET = 'a secret of the tests, longer than 32 bytes'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'greendot-cli-'))
})
afterAll(() => rm(folder, { recursive: true }))

const run = (args: string[], env: Record<string, string> = {}, cwd = folder) => runCli(args, { cwd, env })

/** Failed with one line on stderr and nothing on stdout. */
function expectOneLine(result: { code: number; out: string; err: string }, code: number, line: string) {
  expect(result).toEqual({ code, out: '', err: expect.stringMatching(/^greendot: [^\n]+\n$/) })
  expect(result.err).toContain(line)
}

describe('help', () => {
  for (const args of [[], ['help'], ['--help'], ['-h']]) {
    test(`[C1] "greendot ${args.join(' ')}" lists every command`, async () => {
      const { code, out, err } = await run(args)
      expect({ code, err }).toEqual({ code: 0, err: '' })
      for (const command of COMMANDS) expect(out).toContain(`\n  ${command.name} `)
    })
  }

  for (const { name, summary, options } of COMMANDS) {
    test(`[C1] "greendot ${name} --help" says what it does and does nothing`, async () => {
      const asked = await run([name, '--port', 'nonsense', '--help'])
      expect({ code: asked.code, err: asked.err }).toEqual({ code: 0, err: '' })
      expect(asked.out).toContain(summary)
      for (const option of options) expect(asked.out).toContain(`--${option.name}`)
      expect(await run(['help', name])).toEqual(asked)
    })
  }

  test('[C1] the help of serve has every setting and its default', async () => {
    const { out } = await run(['serve', '--help'])
    for (const name of SETTING_NAMES) expect(out).toContain(`\n  ${flagOf(name)}`)
    expect(out).toMatch(/--port <n> .*\[4400\]/)
    expect(out).toMatch(/--offline-delay-ms <ms> .*\[5000, calm 30000\]/)
  })

  test('[C1] --version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' })
  })
})

describe('wrong use', () => {
  test('[C1] an unknown command', async () => {
    expectOneLine(await run(['serv']), 2, 'no such command: serv; did you mean "greendot serve"?')
  })

  test('[C6] settings before the command are not repeated', async () => {
    const result = await run([`--jwt-secret=${SECRET}`, 'serve'])
    expectOneLine(result, 2, 'the command comes first')
    expect(result.err).not.toContain(SECRET)
  })

  test('[C1] a bad flag, a bad variable, a bad file', async () => {
    expectOneLine(await run(['serve', '--dev', '--port', 'x']), 2, '--port: "x" is not a whole number')
    expectOneLine(
      await run(['serve', '--dev'], { GREENDOT_FLUSH: '1' }),
      2,
      'did you mean GREENDOT_FLUSH_MS?',
    )
    await writeFile(join(folder, 'bad.json'), '{"colour": "green"}')
    expectOneLine(await run(['serve', '--config', 'bad.json']), 2, 'bad.json: colour: no such setting')
  })

  test('[C6] no authentication, and dev on a public address', async () => {
    expectOneLine(await run(['serve']), 2, 'set jwt_secret or jwks_url')
    expectOneLine(await run(['serve', '--dev', '--host', '0.0.0.0']), 2, 'refused on 0.0.0.0')
  })

  for (const args of [['gateway'], ['presence'], ['fanout'], ['serve', '--roles', 'gateway,presence']]) {
    test(`[C1] "greendot ${args.join(' ')}" alone needs redis_url`, async () => {
      expectOneLine(await run([...args, '--dev']), 2, 'needs redis_url to share state with the others')
    })
  }
})

describe('token', () => {
  const config = {
    dev: false,
    jwtSecret: SECRET,
    jwksUrl: null,
    jwtAudience: ['chat'],
    jwtIssuer: ['https://id.test'],
    serverKeys: [],
  }
  const claimed = ['--jwt-audience', 'chat,game', '--jwt-issuer', 'https://id.test']

  test('[C6] is accepted by a server with the same secret, audience and issuer, for an hour', async () => {
    const { code, out } = await run(['token', '--user', 'alice', ...claimed], { GREENDOT_JWT_SECRET: SECRET })
    expect(code).toBe(0)
    const caller = await createAuthenticator(config, systemClock).authenticate(out.trim())
    expect(caller).toMatchObject({ kind: 'user', userId: 'alice' })
    const { iat, exp } = decodeJwt(out.trim())
    expect(exp! - iat!).toBe(3600)
  })

  const ttls: [string, number][] = [
    ['30s', 30],
    ['15m', 900],
    ['7d', 604_800],
  ]
  for (const [ttl, seconds] of ttls) {
    test(`[C6] --ttl ${ttl}`, async () => {
      const { out } = await run(['token', '--ttl', ttl, '--user=zoë', '--jwt-secret', SECRET])
      const { sub, iat, exp } = decodeJwt(out.trim())
      expect({ sub, seconds: exp! - iat! }).toEqual({ sub: 'zoë', seconds })
    })
  }

  test('[C6] in dev mode: the dev token, unless there is a secret', async () => {
    expect(await run(['token', '--user', 'alice', '--dev'])).toEqual({ code: 0, out: 'dev:alice\n', err: '' })
    const { out } = await run(['token', '--user', 'alice', '--dev', '--jwt-secret', SECRET])
    expect(decodeJwt(out.trim()).sub).toBe('alice')
  })

  test('[C1] reads the configuration file of the working folder', async () => {
    const other = await mkdtemp(join(folder, 'with-file-'))
    await writeFile(join(other, 'greendot.config.json'), JSON.stringify({ jwt_secret: SECRET }))
    const { out } = await run(['token', '--user', 'alice'], {}, other)
    expect(decodeJwt(out.trim()).sub).toBe('alice')
  })

  const wrong: [string[], string][] = [
    [['--dev'], '--user is missing'],
    [['--dev', '--user'], '--user: needs a value'],
    [['--dev', '--user', 'a,b'], '--user: 1 to 128 bytes'],
    [['--dev', '--user', 'alice', '--ttl', '1w'], '--ttl: write it as'],
    [['--dev', '--user', 'alice', '--ttl', '0s'], '--ttl: write it as'],
    [['--dev', '--user', 'alice', '--ttl', '367d'], '--ttl: write it as'],
    [['--dev', '--user', 'alice', '--tll', '1h'], '--tll: no such setting'],
    [['--user', 'alice'], 'set jwt_secret'],
    [['--user', 'alice', '--jwks-url', 'https://id.test/keys'], 'signed by its publisher'],
  ]
  for (const [args, line] of wrong) {
    test(`[C6] refused: token ${args.join(' ')}`, async () =>
      expectOneLine(await run(['token', ...args]), 2, line))
  }
})

describe('migrate', () => {
  test('[S4] says what it applied, and then that there is nothing left', async () => {
    const args = ['migrate', '--database-url', 'sqlite://migrated/here.db']
    const first = await run(args)
    expect(first).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^(applied \d{4}_\w+\n)+$/) })
    expect(await run(args)).toEqual({ code: 0, out: 'the schema is up to date\n', err: '' })
  })

  test('[S4] a folder that cannot be', async () => {
    await writeFile(join(folder, 'plain-file'), '')
    expectOneLine(
      await run(['migrate', '--database-url', 'sqlite://plain-file/here.db']),
      1,
      'plain-file/here.db',
    )
  })
})
