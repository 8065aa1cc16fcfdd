// Pages that are hidden, frozen or hang, in a real browser against a real server: their user stays online and the
// other tabs stay connected.
import { expect, test } from 'bun:test'
import { COMPACT_IDLE } from '@greendot/protocol'
import {
  describeWithTabs,
  get,
  hasOneSession,
  TABS_WAIT_MS,
} from '../../../../testing/browser/fixtures/tabs.ts'
import { findHeadlessShell } from '../../../../testing/services/tools/chromium.ts'
import { within } from '../../../../testing/services/within.ts'

/** One every 200 ms: together longer than the TTL of 5 s. */
const BEATS = 30

describeWithTabs('pages in a browser', await findHeadlessShell(), (fixture) => {
  const { serve, openTab, context, server, bob, site, hang, aliceWas, isSeenBy } = fixture

  test('[D6] a hidden page whose timers do not run sends heartbeats by its worker', async () => {
    await serve({ heartbeat_interval_ms: 200, heartbeat_ttl_ms: 5_000, offline_delay_ms: 0 })
    const page = await context().newPage()
    const beaten = Promise.withResolvers<void>()
    let [sockets, beats] = [0, 0]
    page.on('websocket', (socket) => {
      sockets++
      socket.on('framesent', ({ payload }) => {
        // The page is idle, and browsers agree to the compact encoding.
        if (payload === COMPACT_IDLE && ++beats === BEATS) beaten.resolve()
      })
    })
    await page.addInitScript(() => {
      window.setInterval = (() => 0) as unknown as typeof window.setInterval
      Object.defineProperty(document, 'hidden', { get: () => true })
    })
    await page.goto(site())
    await page.waitForFunction('window.isReady', undefined, { polling: 50 })
    await page.evaluate(
      `start(${JSON.stringify({ url: server().url, token: 'dev:alice', tabs: 'separate' })})`,
    )
    await bob().sees('alice', ({ status }) => status === 'away')
    await within(TABS_WAIT_MS, `sending ${BEATS} beats`, beaten.promise)
    // All earlier changes have arrived by then.
    await get(page, `dot.setAvailability('busy')`)
    await bob().sees('alice', ({ status }) => status === 'busy')
    expect(aliceWas()).toEqual(['offline', 'away', 'busy'])
    expect(sockets).toBe(1)
  })

  test('[D6] if the worker is forbidden too, it reconnects within the offline delay', async () => {
    await serve({ heartbeat_interval_ms: 300, heartbeat_ttl_ms: 600 })
    const page = await context().newPage()
    const again = Promise.withResolvers<void>()
    let sockets = 0
    page.on('websocket', () => ++sockets === 4 && again.resolve())
    await page.addInitScript(() => {
      window.setInterval = (() => 0) as unknown as typeof window.setInterval
      window.setTimeout = (() => 0) as unknown as typeof window.setTimeout
      window.Worker = class {
        constructor() {
          throw new Error('forbidden')
        }
      } as unknown as typeof Worker
      Object.defineProperty(document, 'hidden', { get: () => true })
    })
    await page.goto(site())
    await page.waitForFunction('window.isReady', undefined, { polling: 50 })
    await page.evaluate(
      `start(${JSON.stringify({ url: server().url, token: 'dev:alice', tabs: 'separate' })})`,
    )
    await again.promise
    await bob().sees('alice', ({ status }) => status === 'away')
    expect(aliceWas()).toEqual(['offline', 'away'])
  })

  test('[X3, D6] a frozen leader hands over, and is an ordinary tab when it resumes', async () => {
    await serve()
    const [first, second] = [await openTab(), await openTab()]
    const takenOver = new Promise((resolve) => second.once('websocket', resolve))
    // A browser without a window freezes no page, so the page is told as a browser tells it.
    const tell = (event: string) => first.evaluate(`document.dispatchEvent(new Event('${event}'))`)
    await tell('freeze')
    // By itself, before anything happens in the second tab.
    await within(TABS_WAIT_MS, 'a connection of the second tab', takenOver)
    await isSeenBy(second, 'busy')
    await tell('resume')
    await isSeenBy(first, 'away')
    await hasOneSession(second)
    expect(aliceWas()).toEqual(['offline', 'online'])
  })

  test('[X3] a leader that hangs is replaced when there is input in another tab', async () => {
    await serve()
    const [first, second] = [await openTab(), await openTab()]
    // A synchronous request blocks the page until it is answered.
    const hanging = first.evaluate(`{
      const request = new XMLHttpRequest()
      request.open('GET', '/hang', false)
      request.send()
    }`)
    await hang.started.promise
    await second.keyboard.press('a')
    await isSeenBy(second, 'busy')
    hang.over.resolve()
    await hanging
    await isSeenBy(first, 'away')
    await hasOneSession(second)
    expect(aliceWas()).toEqual(['offline', 'online'])
  })
})
