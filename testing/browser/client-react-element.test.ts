// <green-dot> inside React 18 and React 19, in a real browser against a real server: by the provider, with a
// dot of its own, as a component, and what the console says where there is no connection.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { greendot } from '../../packages/client/src/server.ts'
import { connect } from '../clients/client.ts'
import type { TestServer } from '../clients/server.ts'
import { bundle, describeWithBrowser, type OpenWindow, type ReactVersion } from './fixtures/app-pages.ts'

const PAGE =
  '<!doctype html><html lang="en"><title>People</title><main><h1>People</h1><div id="root"></div></main>' +
  '<script type="module" src="page.js"></script></html>'

for (const version of [18, 19] as ReactVersion[]) {
  describeWithBrowser(`<green-dot> in React ${version}`, (browser) => {
    let script = ''
    beforeAll(async () => {
      script = await bundle('testing/browser/fixtures/react-dots-page.tsx', version)
    })

    /** Bob is online for ada, and hidden from strangers. */
    async function serve(): Promise<TestServer> {
      const server = await browser.serve({ default_visibility: 'contacts' })
      await greendot({ url: server.url, serverKey: 'dev' }).contacts.replace('bob', ['ada'])
      await connect(server.url, 'bob')
      return server
    }

    async function open(
      server: TestServer,
      scene: string,
      more = '',
    ): Promise<OpenWindow & { warnings: string[] }> {
      const site = browser.publish(server, { 'page.html': PAGE, 'page.js': script })
      const window = await browser.window()
      const warnings: string[] = []
      window.page.on('console', (message) => {
        if (message.text().startsWith('greendot:')) warnings.push(message.text())
      })
      await window.page.goto(`${site}/page.html?server=${server.url}&scene=${scene}${more}`)
      await window.page.locator(`html[data-react^="${version}."]`).waitFor()
      return { ...window, warnings }
    }

    const says = (page: Page, words: string) =>
      page.getByRole('img', { name: words, exact: true }).first().waitFor()
    const toggle = (page: Page) => page.getByRole('button', { name: 'Toggle' }).click()
    const warning = (page: Page) =>
      page.waitForEvent('console', (message) => message.text().startsWith('greendot:'))

    test('[X3] inside a provider: plain, with the dot of the hook, and as a component', async () => {
      const { page, wire, warnings } = await open(await serve(), 'provided')
      for (const label of ['plain', 'hook', 'component']) await says(page, `${label}: online`)
      expect([wire.sockets, warnings]).toEqual([1, []])
    })

    test('[X3] a dot of its own counts, without a provider and inside that of another viewer', async () => {
      const server = await serve()
      const alone = await open(server, 'own')
      await says(alone.page, 'own: online')
      const { page } = await open(server, 'other')
      await says(page, 'provider: online')
      await says(page, 'other: offline')
      await says(page, 'component: offline')
    })

    test('[X3] the element may be loaded after React has rendered; the component loads it by itself', async () => {
      const { page } = await open(await serve(), 'provided', '&element=later')
      for (const label of ['plain', 'hook', 'component']) await says(page, `${label}: online`)
    })

    test('[X3] elements follow a provider that comes and goes', async () => {
      const { page } = await open(await serve(), 'ended')
      await says(page, 'below: online')
      await toggle(page)
      await says(page, 'below: unknown')
      await toggle(page)
      await says(page, 'below: online')
    })

    test('[X3] between two providers a component knows its own, and an element says that it does not', async () => {
      const server = await serve()
      const site = browser.publish(server, { 'page.html': PAGE, 'page.js': script })
      const { page } = await browser.window()
      const said = warning(page)
      await page.goto(`${site}/page.html?server=${server.url}&scene=several`)
      await says(page, 'ada: online')
      await says(page, 'stranger: offline')
      expect((await said).text()).toContain('several providers on this page: use GreenDot')
      await says(page, 'plain: unknown')
    })

    test('[X3] without a connection the console says it once, and what to do', async () => {
      const server = await serve()
      const { page, warnings } = await open(server, 'none')
      await says(page, 'two: unknown')
      while (warnings.length === 0) await warning(page)
      expect(warnings).toEqual([
        'greendot: <green-dot user="bob"> has no connection. Put it into <greendot-connection> or ' +
          '<GreendotProvider>, or give it url and token.',
      ])
      // Another one, later, says nothing more; the time of the page runs faster until it would have.
      await page.clock.install()
      await page.evaluate(() => {
        const late = document.createElement('green-dot')
        late.setAttribute('user', 'dave')
        document.querySelector('main')!.append(late)
      })
      await says(page, 'dave: unknown')
      await page.clock.runFor(10_000)
      expect(warnings).toHaveLength(1)
    })

    // React 19 sets the property instead, and the types say what is wrong.
    if (version === 18)
      test('[X3] an object that is no dot is named in the console', async () => {
        const { page, warnings } = await open(await serve(), 'fake')
        await says(page, 'fake: unknown')
        while (warnings.length === 0) await warning(page)
        expect(warnings).toEqual([
          'greendot: <green-dot user="bob"> has no connection. Its dot attribute is not a dot of connect(): ' +
            '[object Object]',
        ])
      })

    test('[X3] show-label and class are as React writes them', async () => {
      const { page } = await open(await serve(), 'labels')
      await says(page, 'element: online')
      await says(page, 'component: online')
      const component = page.locator('green-dot.large')
      expect(await component.getAttribute('title')).toBe('hint')
      await toggle(page)
      await page.getByText('element: online').waitFor()
      await page.getByText('component: online').waitFor()
      await toggle(page)
      await says(page, 'element: online')
      await says(page, 'component: online')
    })

    test('[X3, S5] settings are shown as they are after each change, in all components', async () => {
      const server = await serve()
      const { page } = await open(server, 'settings')
      const buttons = (text: string) => page.getByRole('button', { name: text, exact: true })
      await buttons('reciprocal: false').nth(1).click()
      await buttons('reciprocal: true').nth(1).click()
      await buttons('reciprocal: false').nth(1).waitFor()
    })
  })
}
