// The page at /docs in a real browser: it shows every operation of the document, calls them as it says,
// can be used by keyboard and on a phone, and runs nothing and fetches nothing that is not its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { startServer, type TestServer } from '../clients/server.ts'
import { isCI } from '../services/found.ts'
import { CHROMIUM_FLAGS, findHeadlessShell } from '../services/tools/chromium.ts'
import { WAIT_MS } from '../services/within.ts'
import { operationsOf, parseDocument } from './openapi-document.ts'

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 360, height: 740 }

const found = await findHeadlessShell()
const isSkipped = found.state === 'missing' && !isCI()
const reason = found.state === 'missing' ? ` (${found.why})` : ''

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const fetchDocument = async () => parseDocument(await (await fetch(`${server.url}/openapi.json`)).text())

test('[X8] /docs is one file, and its policy allows what is written in it and nothing else', async () => {
  const answer = await fetch(`${server.url}/docs`)
  const html = await answer.text()
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(html).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\//)
  expect(html).not.toMatch(/\bstyle="|\bon\w+="|innerHTML|insertAdjacentHTML|eval\(/)
  const policy = Object.fromEntries(
    answer.headers
      .get('content-security-policy')!
      .split('; ')
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  )
  expect(policy).toMatchObject({ 'default-src': "'none'", 'connect-src': "'self'", 'base-uri': "'none'" })
  expect(policy['script-src']).toMatch(/^'sha256-[\w+/=]{44}'$/)
  expect(policy['style-src']).toMatch(/^'sha256-[\w+/=]{44}'$/)
})

describe.skipIf(isSkipped)(`/docs in a browser${reason}`, () => {
  let browser: Browser
  beforeAll(async () => {
    if (found.state === 'missing') throw new Error(found.why)
    browser = await chromium.launch({ executablePath: found.path, args: CHROMIUM_FLAGS })
  })
  afterAll(() => browser?.close())

  /** Runs against a fresh window; an error on the page or a broken policy fails it. */
  async function withPage(size: typeof DESKTOP, run: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: size })
    context.setDefaultTimeout(WAIT_MS)
    const troubles: string[] = []
    context.on('weberror', (error) => troubles.push(String(error.error())))
    context.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) troubles.push(message.text())
    })
    context.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
        troubles.push(request.url())
    })
    const page = await context.newPage()
    await page.goto(`${server.url}/docs`)
    await page.locator('.operation').first().waitFor()
    await run(page)
    await context.close()
    expect(troubles).toEqual([])
  }

  const sent = async (page: Page, id: string) => {
    const form = page.locator(`#${id} form`)
    await form.getByRole('button', { name: 'Send' }).click()
    return form.locator('.badge').textContent()
  }

  test('[X8] shows every operation and every object, in the groups of the document', async () => {
    const document = await fetchDocument()
    await withPage(DESKTOP, async (page) => {
      const shown = await page.locator('.operation > header p.row').allInnerTexts()
      expect(shown.map((text) => text.replace(/\s+/, ' ')).sort()).toEqual(
        operationsOf(document)
          .map(({ name }) => name)
          .sort(),
      )
      const objects = Object.keys(document.components.schemas)
      for (const name of objects) expect(await page.locator(`article#${name}`).count()).toBe(1)
      const groups = document.tags.map(({ name }) => name)
      expect(await page.locator('.group > h2').allInnerTexts()).toEqual([...groups, 'Objects'])
    })
  })

  test('[X8] calls a route as a user, as a backend and without a token, and shows the answer', async () => {
    await withPage(DESKTOP, async (page) => {
      expect(await sent(page, 'putPresenceStatus')).toBe('200 OK')
      expect(await page.locator('#putPresenceStatus form pre').first().textContent()).toContain(
        'In a meeting',
      )
      expect(await sent(page, 'getStats')).toBe('200 OK')
      expect(await sent(page, 'getHealthz')).toBe('200 OK')
      await page.locator('#getPresence [name=as]').selectOption('server')
      await page.locator('#getPresence [name=viewer_id]').fill('bob')
      expect(await sent(page, 'getPresence')).toBe('200 OK')
      await page.locator('#getPresence [name=as]').selectOption('user')
      expect(await sent(page, 'getPresence')).toBe('403 Forbidden')
      await page.getByLabel('User token').fill('wrong')
      expect(await sent(page, 'putPresenceStatus')).toBe('401 Unauthorized')
    })
  })

  test('[X8] the command it shows does the same', async () => {
    await withPage(DESKTOP, async (page) => {
      const form = page.locator('#postPresenceQuery form')
      await form.getByText('As a command').click()
      const command = await form.locator('details pre', { hasText: 'curl' }).textContent()
      expect(command).toStartWith(`curl -X POST '${server.url}/api/v1/presence/query'`)
      expect(command).toContain(`-H 'authorization: Bearer dev:alice'`)
      expect(command).toContain('"user_ids"')
    })
  })

  test('[X8] the keyboard is enough: / finds, enter goes, control and enter sends', async () => {
    await withPage(DESKTOP, async (page) => {
      await page.keyboard.press('/')
      await page.keyboard.type('heartbeat over')
      const visible = page.locator('#links a:visible')
      expect(await visible.count()).toBe(1)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.hash === '#postHeartbeat')
      await page.locator('#postHeartbeat textarea').focus()
      await page.keyboard.press('Control+Enter')
      await page.locator('#postHeartbeat form .badge', { hasText: /^200 OK$/ }).waitFor()
    })
  })

  test('[X8] on a phone nothing is wider than the screen, and the menu is folded', async () => {
    await withPage(PHONE, async (page) => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width)
      expect(await page.locator('#links').isVisible()).toBe(false)
      await page.getByText('Routes', { exact: true }).click()
      await page.locator('#links a', { hasText: '/leave' }).click()
      expect(await page.locator('#links').isVisible()).toBe(false)
      expect(await page.locator('#postLeave h3').isVisible()).toBe(true)
    })
  })

  test('[X8] every control has a name', async () => {
    await withPage(DESKTOP, async (page) => {
      const nameless = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLInputElement>('input:not([type=hidden]), select, textarea, button')]
          .filter((one) => !one.labels?.length && !one.ariaLabel && !one.textContent?.trim())
          .map((one) => one.outerHTML),
      )
      expect(nameless).toEqual([])
    })
  })

  test('[X8] texts of the server are shown as they are, whatever they look like', async () => {
    const text = '<img src=x onerror=alert(1)>'
    await withPage(DESKTOP, async (page) => {
      await page.locator('#putPresenceStatus textarea').fill(JSON.stringify({ text }))
      expect(await sent(page, 'putPresenceStatus')).toBe('200 OK')
      expect(await page.locator('#putPresenceStatus form pre').first().textContent()).toContain(text)
      expect(await page.locator('#putPresenceStatus img').count()).toBe(0)
    })
  })
})
