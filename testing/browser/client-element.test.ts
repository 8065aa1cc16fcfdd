// <green-dot> in a real browser against a real server, from the script that a page would load: its states, its
// texts, its watches, and that it leaves nothing behind.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { GreenDot } from '../../packages/client/src/element.ts'
import { connect } from '../clients/client.ts'
import type { TestServer } from '../clients/server.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { bundle, describeWithBrowser, type OpenWindow } from './fixtures/app-pages.ts'

const pageWith = (content: string) =>
  `<!doctype html><html lang="en"><title>People</title><script type="module" src="element.js"></script>` +
  `<main><h1>People</h1>${content}</main></html>`
const connectionOf = (server: TestServer, as: string, content: string) =>
  `<greendot-connection url="${server.url}" token="dev:${as}">${content}</greendot-connection>`

describeWithBrowser('<green-dot> in a browser', (browser) => {
  let script = ''
  beforeAll(async () => {
    script = await bundle('packages/client/src/element.ts')
  })

  async function open(
    server: TestServer,
    content: string,
    files: Record<string, string> = {},
  ): Promise<OpenWindow> {
    const site = browser.publish(server, { 'page.html': pageWith(content), 'element.js': script, ...files })
    const window = await browser.window()
    await window.page.goto(`${site}/page.html`)
    return window
  }

  const says = (page: Page, words: string) =>
    page.getByRole('img', { name: words, exact: true }).first().waitFor()
  const sees = async (server: TestServer, as: string) =>
    (
      await open(
        server,
        connectionOf(server, as, '<green-dot user="ada"></green-dot><green-dot user="bob"></green-dot>'),
      )
    ).page

  test('[X3, W1] one line in a page: two users see each other come, choose and go', async () => {
    const server = await browser.serve({ offline_delay_ms: 100 })
    const ada = await sees(server, 'ada')
    await says(ada, 'bob: offline')
    const bob = await sees(server, 'bob')
    await says(ada, 'bob: online')
    await says(bob, 'ada: online')
    await bob.evaluate(() => document.querySelector('greendot-connection')!.dot!.setAvailability('busy'))
    await says(ada, 'bob: busy')
    await bob.evaluate(() => document.querySelector('greendot-connection')!.dot!.setAvailability('away'))
    await says(ada, 'bob: away')
    await bob.close()
    await says(ada, 'bob: offline')
  })

  test('[X3] 1,000 dots of one user are one watch, and none when they are gone', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const { page, wire } = await open(server, connectionOf(server, 'ada', '<div id="dots"></div>'))
    await page.evaluate(() => {
      for (let count = 0; count < 1_000; count++) {
        const dot = document.createElement('green-dot')
        dot.user = 'bob'
        document.getElementById('dots')!.append(dot)
      }
    })
    await says(page, 'bob: online')
    expect(await page.getByRole('img', { name: 'bob: online' }).count()).toBe(1_000)
    expect(wire.sent.filter(({ type }) => type === 'watch')).toMatchObject([{ user_ids: ['bob'] }])
    expect(await browser.watches(server)).toBe(1)
    await page.evaluate(() => document.querySelector('green-dot:first-child')!.remove())
    await page.evaluate(() => document.getElementById('dots')!.replaceChildren())
    const gone = await wire.done(({ type }) => type === 'unwatch')
    expect(gone).toMatchObject({ user_ids: ['bob'] })
    expect(await browser.watches(server)).toBe(0)
  })

  test('[X3] dots and connections that are removed leave nothing behind', async () => {
    const server = await browser.serve({ offline_delay_ms: 0 })
    const carol = await connect(server.url, 'carol')
    carol.send({ type: 'watch', user_ids: ['ada'] })
    const { page } = await open(server, connectionOf(server, 'ada', '<green-dot user="bob"></green-dot>'))
    await says(page, 'bob: offline')
    await carol.change('ada', ({ status }) => status === 'online')
    await page.evaluate(() => {
      const connection = document.querySelector('greendot-connection')!
      Object.assign(window, {
        left: [new WeakRef(connection), new WeakRef(document.querySelector('green-dot')!)],
      })
      connection.remove()
    })
    await carol.change('ada', ({ status }) => status === 'offline')
    const left = () =>
      page.evaluate(
        () => (window as unknown as { left: WeakRef<Element>[] }).left.filter((one) => one.deref()).length,
      )
    // The page may hold them until it has handled the end of its socket.
    await until(WAIT_MS, 'their collection', async () => {
      await page.requestGC()
      return (await left()) === 0
    })
  })

  test('[X3] a dot that is moved keeps what it knows, and costs no frame', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const dots = '<p id="one"><green-dot user="bob"></green-dot></p><p id="other"></p>'
    const { page, wire } = await open(server, connectionOf(server, 'ada', dots))
    await says(page, 'bob: online')
    const parts = await page.evaluate(async () => {
      const dot = document.querySelector('green-dot')!
      const picture = dot.shadowRoot!.querySelector('svg')!
      const seen: string[] = []
      new MutationObserver(() => seen.push(picture.getAttribute('part')!)).observe(picture, {
        attributes: true,
      })
      document.getElementById('other')!.append(dot)
      await new Promise((resolve) => requestAnimationFrame(resolve))
      return [...seen, picture.getAttribute('part')]
    })
    expect(new Set(parts)).toEqual(new Set(['dot online']))
    await page.evaluate(() => {
      document.querySelector('green-dot')!.user = 'carol'
    })
    await says(page, 'carol: offline')
    await wire.done((frame) => frame.type === 'unwatch' && frame.user_ids[0] === 'bob')
    const watched = wire.sent.flatMap((frame) => (frame.type === 'watch' ? frame.user_ids : []))
    expect(watched).toEqual(['bob', 'carol'])
  })

  test('[X3] the nearest connection counts, across shadow roots, and then that of the page', async () => {
    const server = await browser.serve({ default_visibility: 'contacts' })
    await connect(server.url, 'bob')
    const friends = { user_ids: ['ada'] }
    await fetch(`${server.url}/api/v1/users/bob/contacts`, {
      method: 'PUT',
      headers: { authorization: 'Bearer dev', 'content-type': 'application/json' },
      body: JSON.stringify(friends),
    })
    const around = connectionOf(server, 'stranger', connectionOf(server, 'ada', '<p id="host"></p>'))
    const { page } = await open(
      server,
      `${around}<p id="free"><green-dot user="bob" label="free"></green-dot></p>`,
    )
    await says(page, 'free: unknown')
    await page.evaluate(() => {
      const dot = document.createElement('green-dot')
      Object.assign(dot, { user: 'bob', label: 'near' })
      document.getElementById('host')!.attachShadow({ mode: 'open' }).append(dot)
    })
    await says(page, 'near: online')
    await page.evaluate((url) => {
      const Dots = customElements.get('green-dot') as typeof GreenDot
      Dots.connect({ url, token: 'dev:stranger' })
    }, server.url)
    await says(page, 'free: offline')
    // One of its own comes before both.
    await page.evaluate(() => {
      const [outer, inner] = document.querySelectorAll('greendot-connection')
      document.querySelector<GreenDot>('#free green-dot')!.dot = inner!.dot
      document.getElementById('host')!.shadowRoot!.querySelector('green-dot')!.dot = outer!.dot
    })
    await says(page, 'free: online')
    await says(page, 'near: offline')
  })

  test('[X3] dots with the same url and token share a connection, until the last one is removed', async () => {
    const server = await browser.serve({ offline_delay_ms: 0 })
    const carol = await connect(server.url, 'carol')
    carol.send({ type: 'watch', user_ids: ['ada', 'eve'] })
    const dot = (as: string) =>
      `<green-dot user="carol" label="${as}" url="${server.url}" token="dev:${as}"></green-dot>`
    const { page, wire } = await open(server, dot('ada') + dot('ada') + dot('eve'))
    await says(page, 'ada: online')
    await says(page, 'eve: online')
    expect(wire.sockets).toBe(2)
    await carol.sees('ada', ({ status }) => status === 'online')
    const remove = () => page.evaluate(() => document.querySelector('green-dot')!.remove())
    await remove()
    await page.evaluate(() => document.querySelector('green-dot')!.setAttribute('label', 'still'))
    await says(page, 'still: online')
    expect(carol.sightings('ada').at(-1)!.presence.status).toBe('online')
    await remove()
    await carol.change('ada', ({ status }) => status === 'offline')
    // A dot with another token connects as that user.
    await page.evaluate(() => document.querySelector('green-dot')!.setAttribute('token', 'dev:ada'))
    await carol.change('eve', ({ status }) => status === 'offline')
    await carol.change('ada', ({ status }) => status === 'online')
  })

  test('[X3] a token comes from the page’s own server, for every connection', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const markup = `<greendot-connection url="${server.url}" token-url="token.txt"><green-dot user="bob"></green-dot></greendot-connection>`
    const { page } = await open(server, markup, { 'token.txt': 'dev:ada\n' })
    await says(page, 'bob: online')
    const broken = await open(server, markup)
    const warning = await broken.page.waitForEvent('console', (message) => message.type() === 'warning')
    expect(warning.text()).toContain('token.txt answered 404')
    await says(broken.page, 'bob: unknown')
  })

  test('[X3] properties that were set before the element was defined count', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const early = {
      'early.js': 'Object.assign(document.querySelector("green-dot"), { user: "bob", label: "Bob" })',
    }
    const dots = '<green-dot></green-dot><script src="early.js"></script>'
    const { page } = await open(server, connectionOf(server, 'ada', dots), early)
    await says(page, 'Bob: online')
    expect(await page.evaluate(() => document.querySelector('green-dot')!.getAttribute('user'))).toBe('bob')
  })

  test('[X3] what it says follows its attributes, in other languages too, and is read once', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const { page } = await open(server, connectionOf(server, 'ada', '<green-dot user="bob"></green-dot>'))
    await says(page, 'bob: online')
    const markup = '<img src=x onerror=alert(1)>'
    await page.evaluate((label) => {
      Object.assign(document.querySelector('green-dot')!, { label, showLabel: true })
    }, markup)
    await page.getByText(`${markup}: online`).waitFor()
    expect(await page.getByRole('img').count()).toBe(0)
    await page.evaluate(() => {
      const Dots = customElements.get('green-dot') as typeof GreenDot
      Dots.localize(({ label, status }) => `${label} ist ${status === 'online' ? 'da' : 'weg'}`)
      document.querySelector('green-dot')!.removeAttribute('label')
    })
    await page.getByText('bob ist da').waitFor()
    await page.evaluate(() => {
      document.querySelector('green-dot')!.showLabel = false
    })
    await says(page, 'bob ist da')
    expect(await page.getByText('bob ist da').count()).toBe(0)
  })

  test('[X3, C7] without a server it says what was last known, and looks like it', async () => {
    const server = await browser.serve()
    await connect(server.url, 'bob')
    const { page } = await open(server, connectionOf(server, 'ada', '<green-dot user="bob"></green-dot>'))
    await says(page, 'bob: online')
    const online = await page.locator('green-dot').screenshot()
    await server.stop()
    await page.getByRole('img', { name: /^bob: was / }).waitFor()
    expect(await page.locator('green-dot svg').getAttribute('part')).toMatch(/^dot (online|offline) stale$/)
    expect((await page.locator('green-dot').screenshot()).equals(online)).toBe(false)
    await page.evaluate(() => document.querySelector('greendot-connection')!.dot!.close())
    await says(page, 'bob: unknown')
  })
})
