// The examples for browsers, served as their READMEs say, in a real browser against a real server. They may send
// requests to this machine only.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { type BrowserFixture, describeWithBrowser } from '../browser/fixtures/app-pages.ts'
import { connect } from '../clients/client.ts'
import type { TestServer } from '../clients/server.ts'
import { startExample } from './example.ts'

describeWithBrowser('the examples in a browser', (browser) => {
  test('[X3] [W1] the plain page shows users and what they choose', async () => {
    const server = await browser.serve()
    await onSite('plain-html', server, async (url) => {
      const [alice, bob] = [await visit(browser, url), await visit(browser, `${url}?as=bob`)]
      const row = (page: Page, text: string) => page.locator('li', { hasText: text }).waitFor()
      await row(alice, 'bob is online')
      await row(bob, 'alice is online')
      await row(bob, 'carol is offline')

      await alice.getByLabel('Availability').selectOption('Busy')
      await alice.getByLabel('Your status in words').fill('<b>Lunch</b>')
      await alice.getByRole('button', { name: 'Set' }).click()
      await row(bob, 'alice is busy · <b>Lunch</b>')
      await alice.getByLabel('Availability').selectOption('Invisible')
      await alice.getByRole('button', { name: 'Set' }).click()
      await row(bob, 'alice is offline')

      const carol = await connect(server.url, 'carol')
      await row(bob, 'carol is online')
      carol.send({ type: 'leave' })
      await row(bob, 'carol is offline')
      await alice.close()
    })
  })

  test('[X3] the plain page opens another window as another user', async () => {
    const server = await browser.serve()
    await onSite('plain-html', server, async (url) => {
      const alice = await visit(browser, url)
      const opened = alice.context().waitForEvent('page')
      await alice.getByRole('link', { name: 'Open a window as bob' }).click()
      const bob = await opened
      await bob.getByText('You are bob').waitFor()
      await alice.locator('li', { hasText: 'bob is online' }).waitFor()
      await bob.locator('li', { hasText: 'alice is online' }).waitFor()
    })
  })

  test('[X3] [S3] the React team goes to a meeting and comes back', async () => {
    const server = await browser.serve()
    await onSite('react', server, async (url) => {
      const [alice, bob] = [await visit(browser, url), await visit(browser, `${url}?as=bob`)]
      const sees = (page: Page, who: string, what: string) =>
        page.locator(`[data-member=${who}]`, { hasText: what }).waitFor()
      await sees(alice, 'bob', 'online')
      await sees(bob, 'alice', 'online')
      await sees(bob, 'carol', 'offline')

      await alice.getByRole('button', { name: 'Go to a meeting' }).click()
      await sees(bob, 'alice', 'busy')
      await sees(bob, 'alice', '📅 In a meeting')
      await alice.getByRole('button', { name: 'The meeting is over' }).click()
      await sees(bob, 'alice', 'online')
      // Two choices are two changes: the text may go a frame later.
      await bob.getByText('In a meeting').waitFor({ state: 'detached' })
    })
  })

  /** Runs it, hands over its address, and ends it, whatever happens. */
  async function onSite(name: string, server: TestServer, visitIt: (url: string) => Promise<void>) {
    const example = await startExample(name, server.url)
    try {
      const line = await example.says(/https?:\/\/localhost:\d+/)
      await visitIt(/https?:\/\/localhost:\d+\//.exec(line)![0])
    } finally {
      await example.stop()
    }
    expect([...elsewhere]).toEqual([])
  }
})

/** Hosts other than this machine that pages sent requests to. */
const elsewhere = new Set<string>()

async function visit(browser: BrowserFixture, url: string): Promise<Page> {
  const { page } = await browser.window()
  // The dev server of Bun has a WebSocket to the page too, which is ignored.
  page.removeAllListeners('websocket')
  page.context().on('request', (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && !/^(localhost|127\.0\.0\.1)$/.test(hostname)) elsewhere.add(hostname)
  })
  await page.goto(url)
  return page
}
