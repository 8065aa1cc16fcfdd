// The page of a server that serves no demo, directly and behind a proxy that adds a prefix to every path.
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { connect } from '../clients/client.ts'
import { SERVER_KEY, securedSettings, userToken } from '../http/tokens.ts'
import { isSkipped, press, reason, useWindows } from './page-windows.ts'

const PREFIX = '/presence'

/** Passes requests below the prefix on, with the prefix taken off. */
function proxyTo(target: string) {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(`${PREFIX}/`)) return new Response('not here', { status: 502 })
      const { method, headers } = request
      const forwarded = { ...Object.fromEntries(headers), 'accept-encoding': 'identity' }
      return fetch(target + pathname.slice(PREFIX.length) + search, {
        method,
        headers: forwarded,
        redirect: 'manual',
      })
    },
  })
}

const signIn = async (page: Page) => {
  await page.getByLabel('Server key').fill(SERVER_KEY)
  await press(page, 'Open the dashboard')
}

describe.skipIf(isSkipped)(`a page without the demo${reason}`, () => {
  const { serve, open, onEnd } = useWindows()

  test('[X4] opens the dashboard whatever the address says, and offers no demo', async () => {
    const server = await serve(securedSettings)
    for (const address of ['/', '/#as=alice', '/dashboard']) {
      const page = await open(server.url + address)
      await page.getByLabel('Server key').waitFor()
      expect(await page.getByRole('link', { name: 'Demo' }).count()).toBe(0)
      expect(await page.getByLabel('User token').count()).toBe(0)
      expect(await page.title()).toBe('Dashboard · Greendot')
    }
  })

  test('[X4] works behind a prefix: numbers, live feed, look-up and the way to the API', async () => {
    const server = await serve(securedSettings)
    const proxy = proxyTo(server.url)
    onEnd(() => proxy.stop(true))
    const page = await open(`${proxy.url.origin}${PREFIX}/dashboard`)
    expect(page.url()).toBe(`${proxy.url.origin}${PREFIX}/#dashboard`)
    await signIn(page)
    await page.locator('.feed-panel[data-live]').waitFor()
    await connect(server.url, '', { token: userToken('bob') })
    await page.locator('[data-tile=people]', { hasText: /1 online/ }).waitFor()
    await page
      .locator('.feed li', { hasText: /bob\s*online/ })
      .first()
      .waitFor()
    await page.locator('[name=user]').fill('bob')
    await page.keyboard.press('Enter')
    await page
      .getByText(/bob is online/)
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'API' }).click()
    await page.locator('#getHealthz').first().waitFor()
    expect(page.url()).toBe(`${proxy.url.origin}${PREFIX}/docs`)
  })
})
