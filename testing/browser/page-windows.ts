// Windows for the tests of the page. Each has a browser context of its own and may send requests to its server
// only.
import type { BrowserContextOptions, Page } from 'playwright-core'
import { isSkipped, reason, type TestBrowser, useBrowser } from './fixtures/browser.ts'

export { isSkipped, reason }

export interface Windows extends Pick<TestBrowser, 'serve' | 'onEnd'> {
  /** A window in a browser context of its own. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** A window of a user of the demo, connected when this resolves; without simulated neighbours. */
  openAs(server: { url: string }, name: string, options?: BrowserContextOptions): Promise<Page>
}

export function useWindows(): Windows {
  const { serve, newContext, complain, onEnd } = useBrowser()
  const windows: Windows = {
    serve,
    onEnd,
    async open(url, options = {}) {
      const viewport = { width: 1440, height: 900 }
      // Drawing what moves takes half of the processor time of a window.
      const context = await newContext({ viewport, locale: 'en-GB', reducedMotion: 'reduce', ...options })
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

/** Waits until the window shows this of a user, on the house's plate or above its roof. */
export const sees = (page: Page, name: string, what: RegExp, part = '.status') =>
  page.locator(`[data-user="${name}"] ${part}`, { hasText: what }).waitFor()

/** Waits until the preview shows this of the window's user, as seen by that user or by another viewer. */
export const reflects = (page: Page, viewer: 'own' | 'other', what: RegExp) =>
  page.locator(`[data-eyes=${viewer}] .face`, { hasText: what }).waitFor()

export const reads = (page: Page, words: string) =>
  page.locator('.story li', { hasText: words }).first().waitFor()

export const choose = (page: Page, label: string) =>
  page.getByRole('radio', { name: label, exact: true }).check()

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** Records every look of a user's house from now on. */
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
