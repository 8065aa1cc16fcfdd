// The React hooks in a real browser against a real server: the changes of one user show in the components of
// another, in StrictMode, with components that mount, unmount and render slowly.
import { beforeAll, expect, test } from 'bun:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { GreendotProvider } from '../../packages/client/src/react.ts'
import { greendot } from '../../packages/client/src/server.ts'
import { connect } from '../clients/client.ts'
import type { TestServer } from '../clients/server.ts'
import { bundle, describeWithBrowser, type OpenWindow } from './fixtures/app-pages.ts'
import { Me, One, Several, SLOW_COUNT } from './fixtures/react-components.tsx'

const pageWith = (content: string) =>
  `<!doctype html><html lang="en"><title>People</title><main><h1>People</h1><div id="root">${content}</div></main>` +
  '<script type="module" src="page.js"></script></html>'

describeWithBrowser('React in a browser', (browser) => {
  let script = ''
  beforeAll(async () => {
    script = await bundle('testing/browser/fixtures/react-page.tsx')
  })

  async function open(server: TestServer, query: string, content = ''): Promise<OpenWindow> {
    const site = browser.publish(server, { 'page.html': pageWith(content), 'page.js': script })
    const window = await browser.window()
    await window.page.goto(`${site}/page.html?server=${server.url}&${query}`)
    return window
  }

  const shows = (page: Page, selector: string, words: string) =>
    page
      .locator(selector, { hasText: new RegExp(`^${words}$`) })
      .first()
      .waitFor()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const namesOf = (window: OpenWindow) =>
    window.wire.sent.flatMap((frame) => (frame.type === 'watch' ? frame.user_ids : []))

  test('[X3, W1] two users see each other come, choose and go', async () => {
    const server = await browser.serve({ offline_delay_ms: 100 })
    const ada = await open(server, 'as=ada&see=bob')
    await shows(ada.page, '[data-one=bob]', 'offline')
    const bob = await open(server, 'as=bob&see=ada')
    await shows(ada.page, '[data-one=bob]', 'online')
    await shows(bob.page, '[data-listed=ada]', 'online')
    await press(bob.page, 'Busy')
    await shows(ada.page, '[data-one=bob]', 'busy')
    await shows(ada.page, '[data-listed=bob]', 'busy')
    await shows(bob.page, 'output', 'busy')
    await shows(ada.page, 'output', 'auto')
    await bob.page.close()
    await shows(ada.page, '[data-one=bob]', 'offline')
  })

  test('[X3, W1] the contact list is shown as it is and follows its edits, for one frame', async () => {
    const server = await browser.serve({ offline_delay_ms: 0 })
    const backend = greendot({ url: server.url, serverKey: 'dev' })
    const bob = await connect(server.url, 'bob')
    const { page, wire } = await open(server, 'scene=contacts&as=ada')
    await shows(page, '[data-contacts]', 'no contacts')
    await backend.contacts.replace('ada', ['bob', 'carol'])
    await shows(page, '[data-contacts]', 'bob online, carol offline')
    await connect(server.url, 'carol')
    await shows(page, '[data-contacts]', 'bob online, carol online')
    await backend.contacts.remove('ada', ['carol'])
    bob.send({ type: 'set_availability', status: 'busy' })
    await shows(page, '[data-contacts]', 'bob busy')
    expect(wire.sent.map(({ type }) => type)).toEqual(['watch_contacts'])
  })

  test('[X3] StrictMode connects once, and a new token opens no connection', async () => {
    const server = await browser.serve()
    const { page, wire } = await open(server, 'as=ada&see=bob')
    await shows(page, '[data-one=bob]', 'offline')
    await press(page, 'Again')
    await press(page, 'Again')
    await connect(server.url, 'bob')
    await shows(page, '[data-one=bob]', 'online')
    expect(wire.sockets).toBe(1)
    expect(await page.evaluate(() => window.seen.tokens)).toBe(1)
  })

  test('[X3] the provider closes what it opened', async () => {
    const server = await browser.serve({ offline_delay_ms: 0 })
    const watcher = await connect(server.url, 'carol')
    watcher.send({ type: 'watch', user_ids: ['ada'] })
    const { page } = await open(server, 'as=ada&see=bob')
    await watcher.change('ada', ({ status }) => status === 'online')
    await press(page, 'End')
    await page.getByText('no component is mounted').waitFor()
    await watcher.change('ada', ({ status }) => status === 'offline')
  })

  test('[X3] a connection of the app stays open, and once it is closed no user is shown as here', async () => {
    const server = await browser.serve({ offline_delay_ms: 0 })
    await connect(server.url, 'bob')
    const carol = await connect(server.url, 'carol')
    carol.send({ type: 'watch', user_ids: ['ada'] })
    const kept = await open(server, 'scene=own&as=ada&see=bob')
    await shows(kept.page, '[data-one=bob]', 'online')
    await kept.page.getByText('auto').waitFor()
    await press(kept.page, 'Close')
    await shows(kept.page, '[data-one=bob]', 'unknown')
    await shows(kept.page, 'output', 'unknown')
    await carol.change('ada', ({ status }) => status === 'offline')

    const since = carol.heard.length
    const ended = await open(server, 'scene=own&as=ada&see=bob')
    await shows(ended.page, '[data-one=bob]', 'online')
    await carol.sees('ada', ({ status }) => status === 'online', { since })
    await press(ended.page, 'End')
    await ended.wire.done(({ type }) => type === 'unwatch')
    const [{ presence } = { presence: null }] = carol.sightings('ada').slice(-1)
    expect(presence?.status).toBe('online')
  })

  test('[X3, W1] what is unmounted is watched no more, and what is still mounted is', async () => {
    const server = await browser.serve()
    const window = await open(server, 'scene=many&as=ada&see=bob')
    await shows(window.page, '[data-one=bob]', 'offline')
    expect(await window.page.locator('[data-one=bob]', { hasText: 'offline' }).count()).toBe(1_000)
    expect(namesOf(window)).toEqual(['bob'])
    expect(await browser.watches(server)).toBe(1)
    await press(window.page, 'Half')
    await connect(server.url, 'bob')
    await shows(window.page, '[data-one=bob]', 'online')
    expect(await window.page.locator('[data-one=bob]', { hasText: 'online' }).count()).toBe(500)
    expect(window.wire.sent.some(({ type }) => type === 'unwatch')).toBe(false)
    await press(window.page, 'None')
    const gone = await window.wire.done(({ type }) => type === 'unwatch')
    expect(gone).toMatchObject({ user_ids: ['bob'] })
    expect(await browser.watches(server)).toBe(0)
  })

  test('[X3] components that take each other’s place keep what is known, and cost no frame', async () => {
    const server = await browser.serve()
    await Promise.all([connect(server.url, 'bob'), connect(server.url, 'carol')])
    const ada = await open(server, 'scene=swap&as=ada&see=bob,carol')
    await shows(ada.page, '[data-one=bob]', 'online')
    await shows(ada.page, '[data-listed=carol]', 'online')
    await ada.page.evaluate(() => {
      const users = ['[data-one=bob]', '[data-listed=carol]']
      new MutationObserver(() => {
        for (const one of users) window.seen.texts.push(document.querySelector(one)!.textContent)
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
    })
    await press(ada.page, 'Again')
    await shows(ada.page, '[data-listed=zoe]', 'offline')
    await press(ada.page, 'Again')
    expect(new Set(await ada.page.evaluate(() => window.seen.texts))).toEqual(new Set(['online']))
    expect(namesOf(ada).sort()).toEqual(['bob', 'carol', 'zoe'])
    expect(ada.wire.sent.some(({ type }) => type === 'unwatch')).toBe(false)
  })

  test('[X3] a list of users is the same object until one of them changes', async () => {
    const server = await browser.serve()
    const bob = await connect(server.url, 'bob')
    const { page } = await open(server, 'as=ada&see=bob,carol')
    await shows(page, '[data-listed=carol]', 'offline')
    const mapsAndRenders = () =>
      page.evaluate(() => [new Set(window.seen.maps).size, window.seen.renders] as const)
    const [maps, renders] = await mapsAndRenders()
    await press(page, 'Again')
    await press(page, 'Again')
    const [mapsAfter, rendersAfter] = await mapsAndRenders()
    expect(rendersAfter).toBeGreaterThan(renders)
    expect(mapsAfter).toBe(maps)
    bob.send({ type: 'set_availability', status: 'away' })
    await shows(page, '[data-listed=bob]', 'away')
    expect(await mapsAndRenders()).toEqual([maps + 1, rendersAfter + 1])
  })

  for (const hook of ['ours', 'naive'] as const) {
    const title =
      hook === 'ours'
        ? '[X3] no commit shows two states of one user, also when changes arrive while it renders'
        : '[X3] the test of that finds a hook that tears'
    test(title, async () => {
      const server = await browser.serve()
      const bob = await connect(server.url, 'bob')
      const { page } = await open(server, `scene=tear&as=ada&see=bob&hook=${hook}`)
      await page.getByText('outside: online').waitFor()
      let isFirst = true
      await page.exposeFunction('onSlowRender', () => {
        if (isFirst) bob.send({ type: 'set_availability', status: 'busy' })
        isFirst = false
      })
      await press(page, 'Show all')
      await page.getByText('outside: busy').waitFor()
      await page
        .locator('[data-version]')
        .nth(SLOW_COUNT - 1)
        .waitFor()
      const { read, together } = await page.evaluate(() => window.seen)
      // Otherwise nothing happened while it rendered, and there was nothing to find.
      expect(new Set(read.slice(0, SLOW_COUNT)).size).toBe(2)
      const torn = together.filter((versions) => versions.length > 1)
      if (hook === 'ours') expect(torn).toEqual([])
      else expect(torn.length).toBeGreaterThan(0)
      // And in the end all show the same.
      await page.waitForFunction(() => {
        const shown = Array.from(document.querySelectorAll('[data-version]'), (one) => one.textContent)
        return new Set(shown).size === 1
      })
    })
  }

  test('[X3] a page rendered on a server comes alive without a mismatch', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const content = renderToString(
      createElement(
        GreendotProvider,
        { url: server.url, token: 'dev:ada' },
        createElement(One, { id: 'bob' }),
        createElement(Several, { ids: ['bob', 'carol'] }),
        createElement(Me),
      ),
    )
    expect(content).toContain('<span data-one="bob">unknown</span>')
    const { page } = await open(server, 'scene=hydrate&as=ada', content)
    await shows(page, '[data-one=bob]', 'online')
    await shows(page, '[data-listed=carol]', 'offline')
    await shows(page, 'output', 'auto')
  })

  test('[X3, C7] when the server is gone, what was known is marked as such', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const { page } = await open(server, 'as=ada&see=bob')
    await shows(page, '[data-one=bob]', 'online')
    await page.locator('[data-state=live]').waitFor({ state: 'attached' })
    await server.stop()
    await shows(page, '[data-one=bob]', 'was (online|offline)')
    await page.locator('[data-state=stale]').waitFor({ state: 'attached' })
  })

  test('[X3] a page with the element inside React has nothing that axe objects to', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const { page } = await open(server, 'scene=own&as=ada&see=bob')
    await page.locator('green-dot').getByText('bob: online').waitFor()
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([])
  })
})
