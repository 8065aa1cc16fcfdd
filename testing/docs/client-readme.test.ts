// The examples of the client's README in a real browser, as they stand there: the element from the server on a
// page of another origin, and React 18 and 19. Its first program is run by packages/client/build.test.ts.
import { expect, test } from 'bun:test'
import { greendot } from '../../packages/client/src/server.ts'
import { bundle, describeWithBrowser, type ReactVersion } from '../browser/fixtures/app-pages.ts'
import { connect } from '../clients/client.ts'
import type { TestServer } from '../clients/server.ts'
import { blocksOf, plain, rowsOf, section } from './docs-text.ts'
import { fromHere, inFolder } from './snippet-program.ts'

const PATH = 'packages/client/README.md'
const [oneLine, styled, localized, ...otherPages] = blocksOf(PATH, 'html').map(({ text }) => text)
const [app, ...otherApps] = blocksOf(PATH, 'tsx').map(({ text }) => text)

test('[X3] the README has three pages and one app', () => {
  expect([otherPages, otherApps]).toEqual([[], []])
})

test('[X3] the example of last seen prints what it says', async () => {
  const text = blocksOf(PATH, 'js', section(PATH, 'Last seen as text'))[0]!.text
  const expected = Array.from(text.matchAll(/\/\/ (.*)$/gm), ([, comment]) => comment)
  await inFolder('example.mjs', text, async (path) => {
    const child = Bun.spawn([process.execPath, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    expect((await new Response(child.stdout).text()).trim().split('\n')).toEqual(expected as string[])
  })
})

test('[X3] the README has every attribute of the element', async () => {
  const { GreenDot } = await import('../../packages/client/src/element.ts')
  const documented = rowsOf(section(PATH, 'The element'))
    .map(([cell]) => plain(cell!))
    .filter((cell) => !cell.startsWith('--'))
  const observed = GreenDot.observedAttributes.filter((name) => name !== 'dot')
  expect(documented.slice(0, 4).join(', ')).toBe(observed.join(', '))
})

describeWithBrowser('packages/client/README.md in a browser', (browser) => {
  /** A page of the app, with its own backend that mints tokens. */
  async function visit(server: TestServer, content: string) {
    const site = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      routes: { '/presence-token': new Response('dev:alice') },
      fetch: () =>
        new Response(`<!doctype html><html lang="en"><title>App</title>${fromHere(content, server)}</html>`, {
          headers: { 'content-type': 'text/html; charset=utf-8' },
        }),
    })
    const { page } = await browser.window()
    await page.goto(site.url.href)
    return { page, stop: () => site.stop(true) }
  }

  test('[X3] one line shows bob', async () => {
    const server = await browser.serve()
    const bob = await connect(server.url, 'bob')
    const { page, stop } = await visit(server, oneLine!)
    await page.getByRole('img', { name: 'bob: online' }).waitFor()
    bob.send({ type: 'set_availability', status: 'away' })
    await page.getByRole('img', { name: 'bob: away' }).waitFor()
    await stop()
  })

  test('[X3] a page styles variables and parts, with a token of its backend', async () => {
    const server = await browser.serve()
    const bob = await connect(server.url, 'bob')
    const { page, stop } = await visit(server, styled!)
    const styleOf = (part: string, property: string) =>
      page.evaluate(
        ([part, property]) => {
          const inside = document.querySelector('green-dot')!.shadowRoot!.querySelector(`[part~=${part}]`)!
          return getComputedStyle(inside).getPropertyValue(property!)
        },
        [part, property],
      )
    await page.getByText('Bob: online').waitFor()
    expect(await styleOf('online', 'color')).toBe('rgb(102, 51, 153)')
    expect([await styleOf('dot', 'width'), await styleOf('label', 'font-weight')]).toEqual(['16px', '700'])
    bob.send({ type: 'set_availability', status: 'busy' })
    await page.getByText('Bob: busy').waitFor()
    expect(await styleOf('busy', 'outline-width')).toBe('2px')
    await server.stop()
    await page.getByText(/Bob: was /).waitFor()
    expect(await styleOf('stale', 'opacity')).toBe('0.5')
    await stop()
  })

  test('[X3] a page speaks another language', async () => {
    const server = await browser.serve()
    const bob = await connect(server.url, 'bob')
    const { page, stop } = await visit(server, localized!)
    await page.getByText('Bob ist da').waitFor()
    bob.send({ type: 'set_availability', status: 'busy' })
    await page.getByText('Bob ist beschäftigt').waitFor()
    await stop()
  })

  for (const version of [18, 19] as ReactVersion[]) {
    test(`[X3] the app of React ${version} lists contacts and changes its settings`, async () => {
      const server = await browser.serve()
      await greendot({ url: server.url, serverKey: 'dev' }).contacts.replace('alice', ['bob', 'carol'])
      await connect(server.url, 'bob')
      const program = [
        "import { createRoot } from 'react-dom/client'",
        fromHere(app!, server),
        "createRoot(document.getElementById('root')!).render(<App />)",
      ]
      await inFolder('page.tsx', program.join('\n'), async (path) => {
        const html =
          '<!doctype html><html lang="en"><title>App</title><div id="root"></div><script type="module" src="page.js"></script></html>'
        const site = browser.publish(server, { 'page.html': html, 'page.js': await bundle(path, version) })
        const { page } = await browser.window()
        await page.goto(`${site}/page.html`)
        await page.getByText('bob: online').waitFor()
        await page.getByText('carol: offline').waitFor()
        await page.getByRole('button', { name: 'Hide me' }).click()
        await page.getByRole('button', { name: 'Show me' }).waitFor()
      })
    })
  }
})
