// Holds docs/webhooks.md against the code: its events, its payload, its filter, and its commands. The first shell block is
// run by docs.test.ts.
import { expect, test } from 'bun:test'
import { WEBHOOK_EVENTS, type WebhookPayload } from '@greendot/protocol'
import { webhookBody } from '../../packages/server/src/input/webhook-schemas.ts'
import { WEBHOOKS_MAX } from '../../packages/server/src/webhooks/webhooks.ts'
import { useServers } from '../clients/clearing.ts'
import { runCli } from '../clients/cli.ts'
import { connect } from '../clients/client.ts'
import { addHook } from '../webhooks/hooks.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { blocksOf, documentOf, plain, rowsOf, section } from './docs-text.ts'

const PATH = 'docs/webhooks.md'
const { serve, onEnd } = useServers()

test('[X5] docs/webhooks.md has every event and every field of a filter', () => {
  const rows = rowsOf(section(PATH, 'Events')).map(([name]) => plain(name!))
  expect(rows.slice(0, WEBHOOK_EVENTS.length)).toEqual([...WEBHOOK_EVENTS])
  const { filter } = webhookBody.shape
  expect(rows.slice(WEBHOOK_EVENTS.length)).toEqual(Object.keys(filter.unwrap().unwrap().shape))
})

test('[X5] the payload in docs/webhooks.md is one that receivers get', async () => {
  const { url } = await serve()
  const [block] = blocksOf(PATH, 'json', section(PATH, 'Events'))
  const example = JSON.parse(block!.text) as WebhookPayload
  let got: WebhookPayload | null = null
  const receiver = startReceiver(onEnd, (payload) => {
    got = payload
    return new Response(null, { status: 204 })
  })
  await addHook(url, { url: receiver.url, events: ['user.online'] })
  await connect(url, 'alice', { platform: 'mobile' })
  await receiver.gets('the event', (events) => events.length === 1)
  const shape = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, shape(inside)]))
      : typeof value
  const [event] = example.events
  expect(shape(got!.events[0])).toEqual(shape(event))
  expect(Object.keys(got!)).toEqual(Object.keys(example))
  const same = { type: 'user.online', user_id: 'alice', old_status: 'offline', devices: ['mobile'] }
  expect(event).toMatchObject(same)
  expect(receiver.events[0]).toMatchObject(same)
})

test('[X5] the commands in docs/webhooks.md work', async () => {
  const { url, folder } = await serve()
  const lines = blocksOf(PATH, 'sh').flatMap(({ text }) => text.trim().split('\n'))
  const commands = lines.filter((line) => line.startsWith('npx greendot '))
  expect(commands).toHaveLength(5)
  const { id } = await addHook(url, { url: 'http://127.0.0.1:9/' })
  for (const line of commands) {
    const args = line.replace('npx greendot ', '').replace('{id}', id).split(' ')
    expect(await runCli([...args, '--url', url], { cwd: folder, env: {} })).toMatchObject({
      code: 0,
      err: '',
    })
  }
  const curls = lines.filter((line) => line.includes('/{id}'))
  expect(curls).toHaveLength(5)
  for (const line of curls) {
    const [, method = 'GET', path, body] =
      /^curl -s (?:-X (\w+) )?http:\/\/127\.0\.0\.1:4400(\S+) -H 'Authorization: Bearer dev'(?: -d '(.+)')?$/.exec(
        line,
      )!
    const answer = await fetch(url + path!.replace('{id}', id), {
      method,
      headers: { authorization: 'Bearer dev' },
      ...(body !== undefined && { body }),
    })
    expect([line, answer.status]).toEqual([line, 200])
  }
})

test('[X5] docs/webhooks.md says how many webhooks there may be', () => {
  expect(documentOf(PATH).replaceAll('\n', ' ')).toContain(`at most ${WEBHOOKS_MAX} webhooks`)
})
