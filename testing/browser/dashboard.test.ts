// The dashboard in a real browser, against servers that have something to show.
import { describe, expect, test } from 'bun:test'
import type { StatsHistory } from '@greendot/client/server'
import type { Page } from 'playwright-core'
import { connect } from '../clients/client.ts'
import { spawnServer } from '../clients/server.ts'
import { call } from '../http/calls.ts'
import { SERVER_KEY, securedSettings, userToken } from '../http/tokens.ts'
import { freePort } from '../services/ports.ts'
import { findRedis, startRedis } from '../services/redis.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { isLive, isSkipped, press, reason, useWindows } from './page-windows.ts'

const redis = await findRedis()
const noRedis = redis.state === 'missing' ? ` (${redis.why})` : ''

const tile = (page: Page, name: string, what: RegExp) =>
  page.locator(`[data-tile=${name}]`, { hasText: what }).waitFor()
const line = (page: Page, words: RegExp) => page.locator('.feed li', { hasText: words }).first()

describe.skipIf(isSkipped)(`the dashboard in a browser${reason}`, () => {
  const { serve, open, onEnd } = useWindows()

  test('[X4] its numbers follow the users', async () => {
    const server = await serve()
    const page = await open(`${server.url}/#dashboard`)
    await tile(page, 'people', /People here0/)
    await tile(page, 'connections', /Connections0and 0 streams/)
    const bob = await connect(server.url, 'bob')
    await connect(server.url, 'carol')
    await tile(page, 'people', /People here22 online, 0 away, 0 busy/)
    await tile(page, 'connections', /Connections2/)
    bob.send({ type: 'watch', user_ids: ['carol', 'dave'] })
    await tile(page, 'watches', /Watches2of 2 people/)
    bob.send({ type: 'set_availability', status: 'busy' })
    await tile(page, 'people', /1 online, 0 away, 1 busy/)
    await tile(page, 'changes', /3 since the start/)
    await page.locator('tbody tr', { hasText: 'gateway, presence, fanout' }).waitFor()
    expect(await page.locator('tbody tr td').allInnerTexts()).toContain('2')
    await page.getByText('All is well').waitFor()
  })

  test.skipIf(redis.state === 'missing')(
    `[X4, C1] several processes stand side by side, and are added up${noRedis}`,
    async () => {
      const store = await startRedis()
      onEnd(store.stop)
      // The users send no heartbeats, and processes publish their numbers every few seconds only.
      const settings = { redis_url: store.url, heartbeat_ttl_ms: 600_000 }
      const first = await spawnServer(settings)
      onEnd(first.stop)
      const servers = [first]
      for (const roles of ['gateway', 'gateway,presence']) {
        const server = await spawnServer({ ...settings, roles }, first.folder)
        onEnd(server.kill)
        servers.push(server)
      }
      const users = await Promise.all(
        Array.from({ length: 6 }, (_, index) => connect(servers[index % 3]!.url, `user-${index}`)),
      )
      for (const one of users) one.send({ type: 'watch', user_ids: ['user-0', 'user-1'] })
      const page = await open(`${first.url}/#dashboard&user=user-1&viewer=user-2`)
      await tile(page, 'people', /People here66 online/)
      await tile(page, 'connections', /Connections6/)
      await tile(page, 'watches', /Watches12of 6 people, at each gateway/)
      const rows = page.locator('tbody tr', { hasText: 'gateway' })
      await page.getByText('3 running, 3 of them hold connections.').waitFor()
      expect(await rows.locator('td:nth-child(3)').allInnerTexts()).toEqual(['2', '2', '2'])
      const together = page.locator('tfoot tr', { hasText: 'Together' })
      expect((await together.locator('td').allInnerTexts()).slice(1, 5)).toEqual(['6', '0', '12', '6'])
      // All rows fit beside each other where there is room.
      const scroller = page.getByRole('region', { name: 'Table of processes' })
      expect(await scroller.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true)
      users[0]!.send({ type: 'set_availability', status: 'busy' })
      await line(page, /user-0\s*busy/).waitFor()
      await tile(page, 'people', /5 online, 0 away, 1 busy/)
      // What only one process can tell says so.
      await page.getByText('For the process that answers this page.').waitFor()
      await page.getByText('Of people at the process that answers this page.').waitFor()
    },
  )

  test('[X4] draws what happened, says it in words, and draws again in other colours', async () => {
    const server = await serve()
    await connect(server.url, 'bob')
    const page = await open(`${server.url}/#dashboard`, { colorScheme: 'light' })
    const chart = page.getByRole('img', {
      name: /^People by status over time\. Now: Online 1, Away 0, Busy 0/,
    })
    await chart.waitFor()
    expect(await page.locator('.chart canvas').count()).toBe(4)
    const drawn = () => chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL())
    const inLight = await drawn()
    await page.getByRole('button', { name: 'Switch between light and dark' }).click()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await until(WAIT_MS, 'the chart in dark colours', async () => (await drawn()) !== inLight)
    await page.reload()
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  })

  test('[X4] draws the history of p50, p90 and p99, and says of how long they are', async () => {
    const server = await serve()
    const alice = await connect(server.url, 'alice')
    const bob = await connect(server.url, 'bob')
    alice.send({ type: 'watch', user_ids: ['bob'], ref: 1 })
    await alice.next('ok')
    bob.send({ type: 'set_availability', status: 'busy' })
    await alice.change('bob', ({ status }) => status === 'busy')
    const page = await open('about:blank', { colorScheme: 'light', viewport: { width: 1280, height: 900 } })
    // The server would need minutes for a history that can be seen.
    await page.route('**/api/v1/stats/history', async (route) => {
      const response = await route.fetch()
      const history = (await response.json()) as StatsHistory
      const [first] = history.samples
      const earlier = Array.from({ length: 30 }, (_, index) => ({
        ...first!,
        at: first!.at - (30 - index) * 10_000,
        propagation_p50_ms: 11,
        propagation_p90_ms: 222,
        propagation_p99_ms: 333,
      }))
      await route.fulfill({ response, json: { ...history, samples: [...earlier, ...history.samples] } })
    })
    await page.goto(`${server.url}/#dashboard`)
    const chart = page.getByRole('img', {
      name: /^Propagation, from a change to its frame over time\. Now: p50 \d+ ms, p90 \d+ ms, p99 \d+ ms$/,
    })
    await chart.waitFor()
    const colors = await chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      // The left half is history only.
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width / 2, canvas.height)
      const pixels = Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())
      return [...new Set(pixels)]
    })
    expect(colors).toEqual(expect.arrayContaining(['19,143,73', '168,106,5', '201,42,57']))
    await chart.locator('.u-over').hover()
    const panel = page.locator('.chart', { hasText: 'Propagation' })
    await panel.getByText('p90222 ms').waitFor()
    expect(await panel.locator('dl').innerText()).toMatch(/p50\s*11 ms\s*p90\s*222 ms\s*p99\s*333 ms/)
    await panel.getByText('in the last 5\u00a0min').waitFor()
    await tile(page, 'propagation', /Propagation, p99\d+\sms.*in the last 5\smin/)
    await page.getByText('p99 is of the last 5\u00a0min.').waitFor()
  })

  test('[X4] tiles fill whole rows, from a desktop to a phone', async () => {
    const server = await serve()
    const page = await open(`${server.url}/#dashboard`)
    await tile(page, 'connections', /Connections0/)
    for (const width of [1440, 1280, 1024, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      const boxes = await page
        .locator('.tile')
        .evaluateAll((tiles) => tiles.map((one) => one.getBoundingClientRect().toJSON() as DOMRect))
      const rows = Map.groupBy(boxes, ({ top }) => Math.round(top))
      const place = (await page.locator('.tiles').boundingBox())!
      expect(new Set([...rows.values()].map((row) => row.length)).size, `rows at ${width}`).toBe(1)
      for (const row of rows.values()) {
        expect(row[0]!.left).toBeCloseTo(place.x, 0)
        expect(row.at(-1)!.right).toBeCloseTo(place.x + place.width, 0)
        expect(new Set(row.map(({ height }) => Math.round(height))).size).toBe(1)
      }
    }
  })

  test('[X4, S7] the longest ids stay in their panels', async () => {
    const server = await serve()
    const [user, viewer] = ['u'.repeat(128), 'v'.repeat(128)]
    const page = await open(`${server.url}/#dashboard&user=${user}&viewer=${viewer}`)
    await page.locator('.feed-panel[data-live]').waitFor()
    await connect(server.url, user)
    await page.locator('.feed .name', { hasText: user }).waitFor()
    await page.locator('.because li').first().waitFor()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      for (const panel of await page.locator('.lookup, .feed-panel').all())
        expect(await panel.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
    }
  })

  test('[X4] its feed tells changes as they happen, and can be paused', async () => {
    const server = await serve()
    const page = await open(`${server.url}/#dashboard`)
    await page.getByText('Changes appear here as they happen').waitFor()
    await page.locator('.feed-panel[data-live]').waitFor()
    const bob = await connect(server.url, 'bob', { platform: 'mobile' })
    await line(page, /bob\s*online\s*phone/).waitFor()
    await press(page, 'Pause')
    bob.send({ type: 'set_custom_status', text: '<b>bold</b>', emoji: '🧪' })
    await page.getByRole('button', { name: 'Go on (1 more)' }).click()
    bob.send({ type: 'set_availability', status: 'busy' })
    await line(page, /bob\s*busy\s*<b>bold<\/b> 🧪 · phone/).waitFor()
    expect(await page.locator('.feed li').count()).toBe(2)
    expect(await page.locator('.feed b').count()).toBe(0)
    await page.locator('.feed li').first().getByRole('button', { name: 'bob' }).click()
    await page.getByText('The whole truth: bob is busy').waitFor()
  })

  test('[S7] looks a user up and explains them as any viewer sees them', async () => {
    const server = await serve()
    await connect(server.url, 'bob')
    await call(server.url, 'PUT', '/api/v1/users/bob/settings', { token: 'dev', body: { deny: ['alice'] } })
    const page = await open(`${server.url}/#dashboard&user=bob`)
    await page.getByText('The whole truth: bob is online').waitFor()
    await page.getByLabel('As seen by').fill('alice')
    await press(page, 'Explain')
    await page.getByText('alice sees: bob is offline').waitFor()
    expect(new URL(page.url()).hash).toBe('#dashboard&user=bob&viewer=alice')
    const because = await page.locator('.because li').allInnerTexts()
    expect(because.join(' ')).toContain('alice')
    expect(because.length).toBeGreaterThan(1)
    await page.getByText('As JSON').click()
    expect(
      JSON.parse((await page.locator('details pre').textContent()) ?? '').details.rulings.status.rule,
    ).toBe('denied')

    // Asked again, it is asked again.
    await call(server.url, 'PUT', '/api/v1/users/bob/settings', { token: 'dev', body: { deny: [] } })
    await press(page, 'Explain')
    await page.getByText('alice sees: bob is online').waitFor()
    await page.getByLabel('User', { exact: true }).fill('é'.repeat(65))
    await press(page, 'Explain')
    await page.getByRole('alert').getByText('an id is 1 to 128 bytes').waitFor()
  })

  test('[S7] a house of the demo leads to the reason for what is seen', async () => {
    const server = await serve()
    const page = await open(`${server.url}/#as=alice&neighbours=off`)
    await isLive(page)
    await page.locator('[data-user=bob] button').click()
    await page.getByRole('dialog').getByRole('link', { name: 'Why do I see this?' }).click()
    await page.getByText('alice sees: bob is offline').waitFor()
    await page.getByRole('link', { name: 'Demo' }).click()
    await page.locator('[data-user=alice] .tag', { hasText: 'you' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#as=alice')
  })

  test('[C6] outside dev mode it needs a server key, which stays in the window', async () => {
    const server = await serve({ ...securedSettings })
    const page = await open(`${server.url}/#dashboard`)
    const key = page.getByLabel('Server key')
    await key.fill('wrong')
    await press(page, 'Open the dashboard')
    await page.getByRole('alert').getByText(/token/).waitFor()
    await key.fill(userToken('alice'))
    await press(page, 'Open the dashboard')
    await page.getByRole('alert').getByText('this route needs a server key').waitFor()
    await key.fill(SERVER_KEY)
    await press(page, 'Open the dashboard')
    await tile(page, 'connections', /Connections0/)
    expect(page.url()).toBe(`${server.url}/#dashboard`)
    await page.reload()
    await tile(page, 'connections', /Connections0/)
    await press(page, 'Forget the key')
    await key.waitFor()
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not.toContain(
      SERVER_KEY,
    )
  })

  test('[C7] when its server is gone the last numbers stay and say so, until it is back', async () => {
    const port = await freePort()
    const first = await spawnServer({ port })
    onEnd(first.stop)
    const page = await open(`${first.url}/#dashboard`)
    await connect(first.url, 'bob')
    await tile(page, 'people', /1 online/)
    await first.kill()
    await page.getByText('These are the last numbers it gave').waitFor()
    await page.getByText('The server does not answer', { exact: true }).waitFor()
    await page.getByText('Interrupted.').waitFor()
    // Nothing is said to be well that is not known.
    expect(await page.locator('.check dd').allInnerTexts()).toEqual(new Array(4).fill('Not known.'))
    await tile(page, 'people', /1 online/)
    const second = await spawnServer({ port }, first.folder)
    onEnd(second.stop)
    await page.getByText('All is well').waitFor()
    await page.locator('.feed-panel[data-live]').waitFor()
    await connect(second.url, 'carol')
    await line(page, /carol\s*online/).waitFor()
  })
})
