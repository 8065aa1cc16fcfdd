// Windows for the tests of the page: for everybody a browser of their own, in which nothing is shared but
// the server, and which may ask nobody but its server.
import type { BrowserContextOptions, Page } from 'playwright-core'
import { isSkipped, reason, type TestBrowser, useBrowser } from './fixtures/browser.ts'

export { isSkipped, reason }

export interface Windows extends Pick<TestBrowser, 'serve' | 'onEnd'> {
  /** A window of somebody with a browser of their own. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** Somebody of the street, who is live when this resolves. Nobody comes and goes by themselves. */
  openAs(server: { url: string }, name: string, options?: BrowserContextOptions): Promise<Page>
}

export function useWindows(): Windows {
  const { serve, newContext, complain, onEnd } = useBrowser()
  const windows: Windows = {
    serve,
    onEnd,
    async open(url, options = {}) {
      const viewport = { width: 1440, height: 900 }
      const context = await newContext({ viewport, locale: 'en-GB', ...options })
      context.on('request', (request) => {
        if (!/^(blob:|data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) complain(`asked ${request.url()}`)
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
