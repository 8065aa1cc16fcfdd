// Tabs of one user in a real browser against a real server: one connection for all of them, handed over without
// a visible interruption, and pages that are hidden, frozen, closed and restored.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Presence } from '@greendot/protocol'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { connect as connectBare, type TestClient } from '../../../../testing/clients/client.ts'
import { createPatientClock } from '../../../../testing/clients/patient-clock.ts'
import { type SettingsInput, startServer, type TestServer } from '../../../../testing/clients/server.ts'
import { CHROMIUM_FLAGS, findChromium } from '../../../../testing/services/chromium.ts'
import { isCI } from '../../../../testing/services/found.ts'
import { until, within } from '../../../../testing/services/within.ts'
import { buildClient } from '../../build.ts'
import type { ConnectOptions, Dot } from '../types.ts'

/** Only for hangs: no test depends on how long something takes. */
const WAIT_MS = 30_000
/** One every 200 ms: together longer than the TTL of 5 s. */
const BEATS = 30

const found = await findChromium()
const isSkipped = found.state === 'missing' && !isCI()
const reason = found.state === 'missing' ? ` (${found.why})` : ''

/** Globals of the test page. */
declare global {
  interface Window {
    dot: Dot
    told: string[]
    states: string[]
    open(options: Partial<ConnectOptions>): void
  }
}

const PAGE = `<!doctype html><title>app</title><script type="module">
  import { connect } from '/client/index.js'
  window.start = (options) => {
    window.told = []
    window.states = []
    window.dot = connect(options)
    dot.on('state', (state) => states.push(state))
    dot.on('change', (person) => told.push(person.user_id + ' ' + person.status + (person.stale ? ' stale' : '')))
  }
  window.isReady = true
</script>`

let browser: Browser | null = null
let built: string
/** The request to `/hang` is answered once `over` is resolved. */
const hang = { started: Promise.withResolvers<void>(), over: Promise.withResolvers<void>() }
let files: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  if (isSkipped) return
  if (found.state === 'missing') throw new Error(found.why)
  built = mkdtempSync(join(tmpdir(), 'greendot-client-'))
  await buildClient(built)
  files = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request, server) {
      const { pathname } = new URL(request.url)
      if (pathname === '/hang') {
        server.timeout(request, 0)
        hang.started.resolve()
        await hang.over.promise
      }
      if (!pathname.startsWith('/client/'))
        return new Response(PAGE, { headers: { 'content-type': 'text/html' } })
      const file = Bun.file(join(built, pathname.slice('/client/'.length)))
      return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 })
    },
  })
  browser = await chromium.launch({
    executablePath: found.path,
    args: CHROMIUM_FLAGS,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
})
afterAll(async () => {
  await browser?.close()
  if (isSkipped) return
  await files.stop(true)
  rmSync(built, { recursive: true, force: true })
})

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

describe.skipIf(isSkipped)(`tabs in a browser${reason}`, () => {
  let context: BrowserContext
  let server: TestServer
  let bob: TestClient
  let beating: ReturnType<typeof setInterval>
  const errors: string[] = []

  beforeEach(async () => {
    context = await browser!.newContext()
    context.setDefaultTimeout(WAIT_MS)
    context.on('weberror', (error) => errors.push(String(error.error())))
  })
  afterEach(async () => {
    clearInterval(beating)
    await context.close()
    await server.stop()
    expect(errors.splice(0)).toEqual([])
  })

  /** Bob is online and watches alice, who has the tabs. A slow machine must make neither of them offline. */
  async function serve(settings: SettingsInput = {}): Promise<void> {
    server = await startServer({ offline_delay_ms: 60_000, ...settings }, { clock: createPatientClock() })
    bob = await connectBare(server.url, 'bob')
    beating = setInterval(() => bob.send('{"type":"heartbeat","activity":"active"}'), 200)
    bob.send({ type: 'watch', user_ids: ['alice'] })
  }

  async function openTab(options: Partial<ConnectOptions> = {}): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${files.port}/`)
    await page.waitForFunction('window.isReady')
    await start(page, options)
    return page
  }

  async function start(page: Page, options: Partial<ConnectOptions> = {}): Promise<void> {
    const all = { url: server.url, token: 'dev:alice', ...options }
    await page.evaluate(`start(${JSON.stringify(all)}); dot.watch(['bob', 'carol'])`)
    await isLive(page)
  }

  const isLive = (page: Page) =>
    page.waitForFunction(`dot.state === 'live' && dot.get('bob')?.stale === false`)
  const get = <T>(page: Page, expression: string): Promise<T> => page.evaluate(expression)
  /** Waits, because the server may hear of a new connection before it hears of the end of the old one. */
  const hasOneSession = (page: Page) => page.waitForFunction('dot.me.sessions.length === 1')
  const aliceWas = () => bob.sightings('alice').map(({ presence }) => presence.status)

  /** Waits until the page gets a change of bob. */
  async function isSeenBy(page: Page, status: string): Promise<void> {
    bob.send({ type: 'set_availability', status })
    await page.waitForFunction(`dot.get('bob')?.status === '${status}'`)
  }

  /** Waits until alice has this status and bob was told. An earlier change to it does not count. */
  async function bobKnowsAliceIs(status: string): Promise<void> {
    const read = async () => {
      const answer = await fetch(`${server.url}/api/v1/presence/alice`, {
        headers: { authorization: 'Bearer dev' },
      })
      return (await answer.json()) as Presence
    }
    await until(WAIT_MS, `seeing alice ${status}`, async () => {
      const truth = await read()
      return truth.status === status && bob.sightings('alice').at(-1)?.presence.version === truth.version
    })
  }

  /** Waits until the server has so many watches: those of alice, and one of bob. */
  async function watchesAre(count: number): Promise<void> {
    const read = async () => {
      const answer = await fetch(`${server.url}/api/v1/stats`, { headers: { authorization: 'Bearer dev' } })
      return ((await answer.json()) as { watches: number }).watches
    }
    await until(WAIT_MS, `having ${count} watches`, async () => (await read()) === count)
  }

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
    await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
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
        const since = bob.heard.length
        const online = bob.sees('alice', ({ status }) => status === 'online', { since })
        await typeUntil(tab, online)
        await bob.sees('alice', ({ status }) => status === 'away', { since })
      }
    },
  )

  test('[D6] a hidden page whose timers do not run sends heartbeats by its worker', async () => {
    await serve({ heartbeat_interval_ms: 200, heartbeat_ttl_ms: 5_000, offline_delay_ms: 0 })
    const page = await context.newPage()
    const beaten = Promise.withResolvers<void>()
    let [sockets, beats] = [0, 0]
    page.on('websocket', (socket) => {
      sockets++
      socket.on('framesent', ({ payload }) => {
        if (String(payload).includes('"heartbeat"') && ++beats === BEATS) beaten.resolve()
      })
    })
    await page.addInitScript(() => {
      window.setInterval = (() => 0) as unknown as typeof window.setInterval
      Object.defineProperty(document, 'hidden', { get: () => true })
    })
    await page.goto(`http://127.0.0.1:${files.port}/`)
    await page.waitForFunction('window.isReady', undefined, { polling: 50 })
    await page.evaluate(`start(${JSON.stringify({ url: server.url, token: 'dev:alice', tabs: 'separate' })})`)
    await bob.sees('alice', ({ status }) => status === 'away')
    await within(WAIT_MS, `sending ${BEATS} beats`, beaten.promise)
    // All earlier changes have arrived by then.
    await get(page, `dot.setAvailability('busy')`)
    await bob.sees('alice', ({ status }) => status === 'busy')
    expect(aliceWas()).toEqual(['offline', 'away', 'busy'])
    expect(sockets).toBe(1)
  })

  test('[D6] if the worker is forbidden too, it reconnects within the offline delay', async () => {
    await serve({ heartbeat_interval_ms: 300, heartbeat_ttl_ms: 600 })
    const page = await context.newPage()
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
    await page.goto(`http://127.0.0.1:${files.port}/`)
    await page.waitForFunction('window.isReady', undefined, { polling: 50 })
    await page.evaluate(`start(${JSON.stringify({ url: server.url, token: 'dev:alice', tabs: 'separate' })})`)
    await again.promise
    await bob.sees('alice', ({ status }) => status === 'away')
    expect(aliceWas()).toEqual(['offline', 'away'])
  })

  test('[X3, D6] a frozen leader hands over, and is an ordinary tab when it resumes', async () => {
    await serve()
    const [first, second] = [await openTab(), await openTab()]
    const devtools = await context.newCDPSession(first)
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' })
    await isSeenBy(second, 'busy')
    await devtools.send('Page.setWebLifecycleState', { state: 'active' })
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

  test('[X3] a page restored from the back-forward cache reconnects', async () => {
    await serve()
    const tab = await openTab()
    await tab.evaluate('window.mark = 1')
    await tab.goto(`http://127.0.0.1:${files.port}/elsewhere`)
    await changeBob()
    // Restored without loading.
    await tab.goBack({ waitUntil: 'commit' })
    expect(await get<number | undefined>(tab, 'window.mark')).toBe(1)
    await isLive(tab)
    await tab.waitForFunction(`dot.get('bob').status === 'busy'`)
  })

  /** Changes bob while no page watches, and waits for the answer. */
  async function changeBob(): Promise<void> {
    bob.send({ type: 'set_availability', status: 'busy', ref: 'made' })
    await bob.next('ok', ({ ref }) => ref === 'made')
  }
})
