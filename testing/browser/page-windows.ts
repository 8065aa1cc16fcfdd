// Windows for the tests of the page: a real browser, real servers, and for everybody a browser of their
// own, in which nothing is shared but the server. No page may raise an error, trip over its security
// policy, or ask anybody but its server.
import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { type SettingsInput, startServer, type TestServer } from '../server.ts'
import { CHROMIUM_FLAGS, findChromium } from '../services/chromium.ts'
import { isCI } from '../services/found.ts'

const WAIT_MS = 8_000

const found = await findChromium()
export const isSkipped = found.state === 'missing' && !isCI()
/** For the title of what is skipped. */
export const reason = found.state === 'missing' ? ` (${found.why})` : ''

export interface Windows {
  serve(settings?: SettingsInput): Promise<TestServer>
  /** Clears something else away after the test, before the servers. */
  onEnd(clear: () => unknown): void
  /** A window of somebody with a browser of their own. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** Somebody of the street, who is live when this resolves. Nobody comes and goes by themselves. */
  openAs(server: { url: string }, name: string, options?: BrowserContextOptions): Promise<Page>
}

export function useWindows(): Windows {
  let browser: Browser | null = null
  const clearing: (() => unknown)[] = []
  const contexts: BrowserContext[] = []
  const troubles: string[] = []

  beforeAll(async () => {
    if (found.state === 'missing') throw new Error(found.why)
    browser = await chromium.launch({ executablePath: found.path, args: CHROMIUM_FLAGS })
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    for (let clear = clearing.pop(); clear !== undefined; clear = clearing.pop()) await clear()
    expect(troubles.splice(0)).toEqual([])
  })

  const windows: Windows = {
    async serve(settings) {
      const server = await startServer(settings)
      clearing.push(server.stop)
      return server
    },
    onEnd: (clear) => void clearing.push(clear),
    async open(url, options = {}) {
      const context = await browser!.newContext({
        viewport: { width: 1440, height: 900 },
        locale: 'en-GB',
        ...options,
      })
      contexts.push(context)
      context.setDefaultTimeout(WAIT_MS)
      context.on('weberror', (error) => troubles.push(String(error.error())))
      context.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) troubles.push(message.text())
      })
      context.on('request', (request) => {
        if (!/^(blob:|data:|http:\/\/127\.0\.0\.1:)/.test(request.url()))
          troubles.push(`asked ${request.url()}`)
      })
      const page = await context.newPage()
      await page.goto(url)
      return page
    },
    async openAs({ url }, name, options) {
      const page = await windows.open(`${url}/#as=${encodeURIComponent(name)}&neighbours=off`, options)
      await isLive(page)
      return page
    },
  }
  return windows
}

export const isLive = (page: Page) => page.locator('body[data-link=live]').waitFor()

/** What somebody sees of somebody, on the plate of their house or above its roof. */
export const sees = (page: Page, name: string, what: RegExp, part = '.status') =>
  page.locator(`[data-user="${name}"] ${part}`, { hasText: what }).waitFor()

/** What a window shows of its own person, through their own eyes or another's. */
export const reflects = (page: Page, eyes: 'own' | 'other', what: RegExp) =>
  page.locator(`[data-eyes=${eyes}] .face`, { hasText: what }).waitFor()

export const reads = (page: Page, words: string) =>
  page.locator('.story li', { hasText: words }).first().waitFor()

export const choose = (page: Page, label: string) =>
  page.getByRole('radio', { name: label, exact: true }).check()

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** How the light of somebody's house was, from now on. */
export async function recordLooks(page: Page, name: string): Promise<() => Promise<string[]>> {
  await page.evaluate((user) => {
    const house = document.querySelector<HTMLElement>(`[data-user="${user}"]`)!
    const looks = [house.dataset.look]
    Object.assign(window, { looks })
    const look = () => {
      if (house.dataset.look !== looks.at(-1)) looks.push(house.dataset.look)
    }
    new MutationObserver(look).observe(house, { attributeFilter: ['data-look'] })
  }, name)
  return () => page.evaluate(() => (window as unknown as { looks: string[] }).looks)
}
