// The history on the dashboard, in a real browser: a week of all users and of one, and how to turn it on.
import { describe, expect, test } from 'bun:test'
import { connect } from '../clients/client.ts'
import { call } from '../http/calls.ts'
import { isSkipped, reason, useWindows } from './page-windows.ts'

describe.skipIf(isSkipped)(`the history on the dashboard${reason}`, () => {
  const { serve, open } = useWindows()
  const PHONE = { viewport: { width: 390, height: 844 } }

  test('[X4] [X6] shows the week of all users and of the user that is looked up', async () => {
    const { url } = await serve({ history_days: 30 })
    await connect(url, 'alice')
    await connect(url, 'bob')
    for (const name of ['alice', 'bob']) {
      const allowed = { token: `dev:${name}`, body: { history: true } }
      expect((await call(url, 'PUT', '/api/v1/presence/settings', allowed)).status).toBe(200)
    }
    for (const options of [{}, PHONE]) {
      const page = await open(`${url}/#dashboard&user=alice`, options)
      const all = page.getByRole('group', { name: 'All users' })
      const one = page.getByRole('group', { name: 'One user' })
      await all
        .getByRole('img', { name: /at most 2 users in an hour/ })
        .first()
        .waitFor()
      await one
        .getByRole('img', { name: /: here for/ })
        .first()
        .waitFor()
      expect(await all.getByRole('img').count()).toBe(7)
      expect(await one.getByRole('img').count()).toBe(7)
      expect(await one.locator('.bar-online title').first().textContent()).toMatch(/^Online \d\d:\d\d to/)
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    }
  })

  test('[X4] [C3] shows how far the consumers of the change log are behind, where there are any', async () => {
    const { url } = await serve({ history_days: 30 })
    const page = await open(`${url}/#dashboard`)
    await page.locator('[data-consumer=history]', { hasText: 'Up to date.' }).waitFor()
    // A lag of these sizes would take a deployment, so the answer of the server is changed on its way.
    for (const [lag, words, state] of [
      [1, '1 change behind.', 'fine'],
      [20_000, '20,000 changes behind. What the log no longer keeps is lost to it.', 'wrong'],
      [null, 'Not known: the log does not answer.', 'wrong'],
    ] as const) {
      await page.route('**/api/v1/stats', async (route) => {
        const answer = await route.fetch()
        await route.fulfill({ json: { ...(await answer.json()), log_lag: { history: lag } } })
      })
      await page.locator(`[data-consumer=history][data-state=${state}]`, { hasText: words }).waitFor()
      await page.unroute('**/api/v1/stats')
    }
    const off = await serve()
    const other = await open(`${off.url}/#dashboard`)
    await other.getByText('All is well').waitFor()
    expect(await other.locator('.log-lag').isVisible()).toBe(false)
  })

  test('[X4] [X6] says how to turn it on, for the server and for a user', async () => {
    const off = await serve()
    const page = await open(`${off.url}/#dashboard`)
    await page.getByText('greendot serve --history-days 30').waitFor()
    const on = await serve({ history_days: 30 })
    const other = await open(`${on.url}/#dashboard&user=carol`)
    await other.getByText('No user who allows a history was here').waitFor()
    await other.getByText('this user keeps no history').waitFor()
  })
})
