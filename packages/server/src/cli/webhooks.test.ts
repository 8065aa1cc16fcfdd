// `greendot webhooks` against a real server and a real receiver, as an operator would type it.
import { describe, expect, test } from 'bun:test'
import { useServers } from '../../../../testing/clients/clearing.ts'
import { runCli } from '../../../../testing/clients/cli.ts'
import { call } from '../../../../testing/e2e/scene.ts'
import { until, WAIT_MS } from '../../../../testing/services/within.ts'
import { addHook, getHook } from '../../../../testing/webhooks/hooks.ts'
import { startReceiver } from '../../../../testing/webhooks/receiver.ts'

const { serve, onEnd } = useServers()

async function setUp() {
  const { url, folder } = await serve()
  return (...args: string[]) => runCli(['webhooks', ...args, '--url', url], { cwd: folder, env: {} })
}

describe('greendot webhooks', () => {
  test('[X5] adds, lists, tries and replays', async () => {
    const run = await setUp()
    const receiver = startReceiver(onEnd)
    expect((await run('list')).out).toBe('there are no webhooks\n')
    const added = await run(
      'add',
      receiver.url,
      '--events',
      'user.online,user.offline',
      '--users',
      'anna,bea',
    )
    expect({ code: added.code, err: added.err }).toEqual({ code: 0, err: '' })
    const [, id, secret] = /^(wh_\S+) was added[^\n]+\n(whsec_\S+)\n$/.exec(added.out)!
    receiver.know(secret!)
    const listed = await run('list')
    expect(listed.out).toBe(`${id} ${receiver.url} user.online,user.offline enabled, 0 waiting, 0 failed\n`)
    expect(JSON.parse((await run('list', '--json')).out).webhooks[0].filter.user_ids).toEqual(['anna', 'bea'])
    expect(await run('test', id!)).toMatchObject({ code: 0, out: 'delivered: the endpoint answered 204\n' })
    receiver.know(`whsec_${'A'.repeat(43)}=`)
    expect(await run('test', id!)).toMatchObject({
      code: 1,
      out: 'not delivered: the endpoint answered 401\n',
    })
    expect((await run('failures', id!)).out).toBe('nothing was given up\n')
    expect((await run('replay', id!)).out).toBe('0 changes are sent again\n')
    expect((await run('enable', id!)).out).toBe(`${id} is enabled\n`)
  })

  test('[X5] enables a webhook that was disabled, and says what was given up', async () => {
    const { url, folder } = await serve({ log_level: 'silent' })
    const run = (...args: string[]) => runCli(['webhooks', ...args, '--url', url], { cwd: folder, env: {} })
    let status = 410
    const receiver = startReceiver(onEnd, () => new Response(null, { status }))
    const { id } = await addHook(url, { url: receiver.url, events: ['status.changed'] })
    await call(url, 'dev', 'PUT', '/api/v1/users/anna/status', { text: 'hello' })
    await until(WAIT_MS, 'the failure', async () => (await getHook(url, id)).failed === 1)
    expect((await run('failures', id)).out).toMatch(
      /^\d{4}-\S+Z anna status.changed after 1 request: the endpoint answered 410\n$/,
    )
    status = 204
    expect(await run('enable', id)).toMatchObject({
      code: 0,
      out: `${id} is enabled; 1 failed: greendot webhooks replay ${id}\n`,
    })
    expect((await run('replay', id)).out).toBe('1 change is sent again\n')
    await receiver.gets('the change', (events) => events.length === 1)
    expect(await getHook(url, id)).toMatchObject({ enabled: true })
  })

  test('[X5] says what is wrong in one line', async () => {
    const run = await setUp()
    for (const [code, ...args] of [
      [2],
      [2, 'ad'],
      [2, 'add'],
      [2, 'list', 'x'],
      [2, 'test'],
      [2, 'test', 'a', 'b'],
      [2, 'list', '--evnts', 'x'],
      [1, 'add', 'ftp://example.com/'],
      [1, 'add', 'https://example.com/', '--events', 'user.onlin'],
      [2, 'enable'],
      [1, 'test', 'wh_none'],
      [1, 'enable', 'wh_none'],
      [1, 'failures', 'wh_none'],
    ] as [number, ...string[]][]) {
      const said = await run(...args)
      expect({ args, code: said.code, out: said.out }).toEqual({ args, code, out: '' })
      expect(said.err).toMatch(/^greendot: [^\n]+\n$/)
    }
  })

  test('[X5] has help', async () => {
    const run = await setUp()
    expect((await run('--help')).out).toContain('greendot webhooks replay <id>')
  })
})
