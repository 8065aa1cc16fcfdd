// Tabs of one user in a real browser against a real server: one connection for all of them, handed over without
// a visible interruption.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { describeWithTabs, get, hasOneSession, isLive } from '../../../../testing/browser/fixtures/tabs.ts'
import { findHeadlessShell } from '../../../../testing/services/tools/chromium.ts'
import type { ConnectOptions } from '../types.ts'

/** A busy machine may take longer than the away time to pass one key on to the leader. */
async function typeUntil(tab: Page, seen: Promise<unknown>): Promise<void> {
  let isSeen = false
  const done = seen.finally(() => {
    isSeen = true
  })
  while (!isSeen) {
    await tab.keyboard.press('a')
    await Promise.race([done, tab.waitForTimeout(200)])
  }
}

describeWithTabs('tabs in a browser', await findHeadlessShell(), (fixture) => {
  const { serve, openTab, start, bob, aliceWas, isSeenBy, bobKnowsAliceIs, watchesAre } = fixture

  const kinds: [string, Partial<ConnectOptions>][] = [
    ['that elect a leader', {}],
    ['with a worker', { worker: '/client/worker.js' }],
    ['whose worker is missing', { worker: '/nowhere.js' }],
  ]

  test.each(kinds)('[X3] tabs %s share one connection', async (_, options) => {
    await serve()
    const tabs = [await openTab(options), await openTab(options), await openTab(options)]
    for (const tab of tabs) await isSeenBy(tab, 'busy')
    await hasOneSession(tabs[0]!)
    await isSeenBy(tabs[2]!, 'online')
    expect(await get<object>(tabs[1]!, `dot.setAvailability('away')`)).toEqual({ ok: true })
    for (const tab of tabs) await tab.waitForFunction(`dot.me.availability === 'away'`)
    await get(tabs[0]!, `dot.watch('dave')`)
    await tabs[0]!.waitForFunction(`dot.get('dave')`)
    expect(await get<unknown>(tabs[1]!, `dot.get('dave')`)).toBeUndefined()
  })

  test.each(kinds)(
    '[X3, D6] closing tabs %s hands the connection over, not visible to others',
    async (_, options) => {
      await serve()
      const tabs = [await openTab(options), await openTab(options), await openTab(options)]
      const [first, second, third] = tabs as [Page, Page, Page]
      await first.close()
      await isSeenBy(second, 'busy')
      await second.close()
      await isSeenBy(third, 'away')
      expect(aliceWas()).toEqual(['offline', 'online'])
      await hasOneSession(third)
    },
  )

  test.each(kinds.slice(0, 2))(
    '[X3, C7] tabs %s stay connected when one of them crashes',
    async (_, options) => {
      await serve()
      const [first, second] = [await openTab(options), await openTab(options)]
      await get(first, `dot.watch('dave')`)
      await first.waitForFunction(`dot.get('dave')`)
      const crashed = first.waitForEvent('crash')
      first.goto('chrome://crash').catch(() => {})
      await crashed
      await isSeenBy(second, 'busy')
      await hasOneSession(second)
      expect(aliceWas()).toEqual(['offline', 'online'])
      // No tab watches dave any more.
      await watchesAre(2 + 1)
    },
  )

  test('[D6] a reload is not visible to others, and keeps the device id', async () => {
    await serve()
    const tab = await openTab()
    const device = await get<string>(tab, 'dot.me.sessions[0].device_id')
    for (let count = 0; count < 3; count++) {
      await tab.reload()
      await tab.waitForFunction('window.isReady')
      await start(tab)
    }
    expect(await get<string>(tab, 'dot.me.sessions[0].device_id')).toBe(device)
    expect(aliceWas()).toEqual(['offline', 'online'])
  })

  test('[X3] tabs of different users do not share a connection', async () => {
    await serve()
    const alice = await openTab()
    const zoe = await openTab({ token: 'dev:zoe' })
    expect(await get<string>(alice, 'dot.me.user_id')).toBe('alice')
    expect(await get<string>(zoe, 'dot.me.user_id')).toBe('zoe')
  })

  test('[X3] separate tabs have a connection each, with one device id', async () => {
    await serve()
    const tabs = [await openTab({ tabs: 'separate' }), await openTab({ tabs: 'separate' })]
    await tabs[0]!.waitForFunction('dot.me.sessions.length === 2')
    expect(await get<number>(tabs[0]!, 'new Set(dot.me.sessions.map((one) => one.device_id)).size')).toBe(1)
  })

  test('[D2] leave and join in one tab apply to all tabs', async () => {
    await serve()
    const tabs = [await openTab(), await openTab()]
    await get(tabs[1]!, 'dot.leave()')
    for (const tab of tabs) await tab.waitForFunction(`dot.state === 'left'`)
    await bob().sees('alice', ({ status, version }) => status === 'offline' && version > 0)
    await get(tabs[1]!, 'dot.join()')
    for (const tab of tabs) await isLive(tab)
  })

  test.each(kinds.slice(0, 2))(
    '[D4] activity in any tab %s makes the user online, and without it she is away',
    async (_, options) => {
      await serve({ away_after_ms: 800 })
      const tabs = [await openTab(options), await openTab(options)]
      // The answer comes after the activity of opening the tabs was counted.
      await get(tabs[1]!, `dot.setAvailability('online')`)
      await bobKnowsAliceIs('away')
      for (const tab of tabs) {
        const since = bob().heard.length
        const online = bob().sees('alice', ({ status }) => status === 'online', { since })
        await typeUntil(tab, online)
        await bob().sees('alice', ({ status }) => status === 'away', { since })
      }
    },
  )
})
