// A stream in a real browser, which reads it by itself, on a page of another origin: it receives, comes
// back after the server was restarted, says what it had, and gets only what changed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerFrame } from '@greendot/protocol'
import { type Browser, chromium } from 'playwright-core'
import { call } from '../http/calls.ts'
import { isCI } from '../services/found.ts'
import { freePort } from '../services/ports.ts'
import { CHROMIUM_FLAGS, findHeadlessShell } from '../services/tools/chromium.ts'
import { WAIT_MS } from '../services/within.ts'
import { isAway, isOnline, useScene } from './scene.ts'
import { streamPath } from './stream-client.ts'

const found = await findHeadlessShell()
const isSkipped = found.state === 'missing' && !isCI()
const reason = found.state === 'missing' ? ` (${found.why})` : ''

let browser: Browser | null = null
beforeAll(async () => {
  if (isSkipped) return
  if (found.state === 'missing') throw new Error(found.why)
  browser = await chromium.launch({ executablePath: found.path, args: CHROMIUM_FLAGS })
})
afterAll(() => browser?.close())

interface Message {
  frame: ServerFrame
  id: string
}

describe.skipIf(isSkipped)(`a stream in a browser${reason}`, () => {
  const scene = useScene()

  /** A page that opened the stream and hands over what it hears. */
  async function listen(pageUrl: string, streamUrl: string) {
    const context = await browser!.newContext()
    scene.onEnd(() => context.close())
    const page = await context.newPage()
    const messages: Message[] = []
    const opened: number[] = []
    const waiting = new Set<() => void>()
    const hear = (data: string | null, id: string) => {
      if (data === null) opened.push(Date.now())
      else messages.push({ frame: JSON.parse(data), id })
      for (const look of [...waiting]) look()
    }
    await page.exposeFunction('hear', hear)
    await page.goto(`${pageUrl}/healthz`)
    await page.evaluate((url) => {
      const { hear } = window as unknown as { hear: (data: string | null, id: string) => void }
      const source = new EventSource(url)
      source.onopen = () => hear(null, '')
      source.onmessage = ({ data, lastEventId }) => hear(data, lastEventId)
    }, streamUrl)
    return {
      messages,
      opened,
      until: (isThere: () => boolean) =>
        new Promise<void>((resolve, reject) => {
          const giveUp = () => reject(new Error(`the browser heard ${JSON.stringify(messages)}`))
          const timer = setTimeout(giveUp, WAIT_MS)
          const look = () => {
            if (!isThere()) return
            clearTimeout(timer)
            waiting.delete(look)
            resolve()
          }
          waiting.add(look)
          look()
        }),
    }
  }

  const setText = (url: string, userId: string, text: string) =>
    call(url, 'PUT', `/api/v1/users/${userId}/status`, { token: 'dev', body: { text } })

  const states = ({ frame }: Message) => (frame.type === 'presence_state' ? frame.states : [])
  const changes = ({ frame }: Message) => (frame.type === 'presence_change' ? frame.changes : [])

  test('[W9] receives, and goes on where it was after the server was restarted', async () => {
    const host = await scene.server()
    const port = await freePort()
    const first = await scene.process({ port, drain_ms: 50 })
    for (const userId of ['bob', 'carol']) await setText(first.url, userId, 'one')
    const path = `${streamPath(['bob', 'carol', 'dave'])}&token=dev:alice`
    const page = await listen(host.url, first.url + path)
    await page.until(() => page.messages.length === 1)
    expect(states(page.messages[0]!).map(({ user_id }) => user_id)).toEqual(['bob', 'carol', 'dave'])
    expect(page.messages[0]!.id).toMatch(/^[0-9a-z]+\.[0-9a-z]+\.0$/)

    first.signal('SIGTERM')
    await first.exited
    const second = await scene.process({ port }, first.folder)
    await setText(second.url, 'carol', 'two')
    // The page may be back before the text is set, and is then told of it as a change.
    const toldAgain = () =>
      page.messages.slice(1).flatMap((message) => [...states(message), ...changes(message)])
    await page.until(() => toldAgain().length > 0)
    expect(page.opened).toHaveLength(2)
    expect(toldAgain().map(({ user_id }) => user_id)).toEqual(['carol'])

    const dave = await scene.person(second.url, 'dave')
    await page.until(() => page.messages.flatMap(changes).some(isOnline))
    dave.be('idle')
    await page.until(() => page.messages.flatMap(changes).some(isAway))
    expect(page.messages.flatMap(changes).map(({ user_id }) => user_id)).toEqual(['dave', 'dave'])
  })
})
