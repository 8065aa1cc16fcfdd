// The page at `/` in a real browser against a real server: every window is a person, and what one does
// shows in the windows of the others. No page may raise an error or trip over its security policy.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { connect } from '../client.ts'
import { type SettingsInput, startServer, type TestServer } from '../server.ts'
import { findChromium } from '../services/chromium.ts'
import { isCI } from '../services/found.ts'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Over a socket: Bun now and then loses the pipe that is the other way to talk to the browser.
  '--remote-debugging-port=0',
]
const WAIT_MS = 8_000

const found = await findChromium()
const isSkipped = found.state === 'missing' && !isCI()
const reason = found.state === 'missing' ? ` (${found.why})` : ''

let browser: Browser | null = null
beforeAll(async () => {
  if (isSkipped) return
  if (found.state === 'missing') throw new Error(found.why)
  browser = await chromium.launch({ executablePath: found.path, args: FLAGS })
})
afterAll(() => browser?.close())

describe.skipIf(isSkipped)(`the page in a browser${reason}`, () => {
  const servers: TestServer[] = []
  const contexts: BrowserContext[] = []
  const troubles: string[] = []

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    await Promise.all(servers.splice(0).map((server) => server.stop()))
    expect(troubles.splice(0)).toEqual([])
  })

  async function serve(settings: SettingsInput = {}): Promise<TestServer> {
    const server = await startServer(settings)
    servers.push(server)
    return server
  }

  /** A window of somebody with a browser of their own: nothing is shared but the server. */
  async function newWindow(): Promise<Page> {
    const context = await browser!.newContext()
    contexts.push(context)
    context.setDefaultTimeout(WAIT_MS)
    context.on('weberror', (error) => troubles.push(String(error.error())))
    context.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) troubles.push(message.text())
    })
    return context.newPage()
  }

  async function openAs(server: TestServer, name: string): Promise<Page> {
    const page = await newWindow()
    await page.goto(`${server.url}/?as=${encodeURIComponent(name)}`)
    await isLive(page)
    return page
  }

  const isLive = (page: Page) => page.locator('body[data-link=live]').waitFor()
  const sees = (page: Page, name: string, what: RegExp, part = '.status') =>
    page.locator(`[data-user="${name}"] ${part}`, { hasText: what }).waitFor()
  const reads = (page: Page, words: string) => page.locator('#feed li', { hasText: words }).first().waitFor()
  const choose = (page: Page, availability: string) =>
    page.locator('#availability').getByText(availability, { exact: true }).click()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  test('[X4] a newcomer is somebody of the demo who is not here yet, and stays that person on reload', async () => {
    const server = await serve()
    const others = ['ada', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace']
    await Promise.all(others.map((name) => connect(server.url, name)))
    const page = await newWindow()
    await page.goto(server.url)
    await sees(page, 'heidi', /^you$/, 'small')
    await sees(page, 'ada', /^Online$/)
    expect(new URL(page.url()).search).toBe('?as=heidi')
    expect(await page.title()).toBe('heidi · Greendot')
    await page.reload()
    await sees(page, 'heidi', /^you$/, 'small')
  })

  test('[W1, D2] two people see each other arrive, leave and come back', async () => {
    const server = await serve()
    const ada = await openAs(server, 'ada')
    await sees(ada, 'bob', /^Offline$/)
    await sees(ada, 'bob', /^Not seen yet$/, '.seen')
    const bob = await openAs(server, 'bob')
    await sees(ada, 'bob', /^Online$/)
    await sees(ada, 'bob', /^web$/, '.devices')
    await reads(ada, 'bob came online')
    await sees(bob, 'ada', /^Online$/)
    await press(bob, 'Leave')
    await sees(ada, 'bob', /^Offline$/)
    await sees(ada, 'bob', /^Last seen just now$/, '.seen')
    await reads(ada, 'bob went offline')
    await bob.getByText('You left at').waitFor()
    await sees(bob, 'bob', /^Was offline$/)
    await press(bob, 'Come back')
    await isLive(bob)
    await sees(ada, 'bob', /^Online$/)
  })

  test('[X4] another window opens as the next person, and the dot turns green in the first', async () => {
    const ada = await openAs(await serve(), 'ada')
    const opened = ada.context().waitForEvent('page')
    await ada.getByRole('link', { name: 'Open another window as bob' }).click()
    await isLive(await opened)
    await sees(ada, 'bob', /^Online$/)
    await ada.getByRole('link', { name: 'Open another window as carol' }).waitFor()
  })

  test('[D2] somebody who switches to another person is gone as the first', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const ada = await openAs(server, 'ada')
    const window = await openAs(server, 'bob')
    await sees(ada, 'bob', /^Online$/)
    await window.getByLabel('You are').selectOption('carol')
    await press(window, 'Switch')
    await sees(ada, 'carol', /^Online$/)
    await sees(ada, 'bob', /^Offline$/)
  })

  test('[S1] away, busy and back show on the other side, chosen by pointer or by keyboard', async () => {
    const server = await serve()
    const [ada, bob] = await Promise.all([openAs(server, 'ada'), openAs(server, 'bob')])
    await choose(ada, 'Busy')
    await sees(bob, 'ada', /^Busy$/)
    await sees(ada, 'ada', /^Busy$/)
    await reads(bob, 'ada is busy')
    await ada.getByRole('radio', { name: 'Busy' }).press('ArrowUp')
    await sees(bob, 'ada', /^Away$/)
    await reads(bob, 'ada went away')
    await choose(ada, 'Online')
    await sees(bob, 'ada', /^Online$/)
    await reads(bob, 'ada is back online')
  })

  test('[S2] the invisible look offline to others and know it themselves', async () => {
    const server = await serve()
    const [ada, bob] = await Promise.all([openAs(server, 'ada'), openAs(server, 'bob')])
    await sees(bob, 'ada', /^Online$/)
    await choose(ada, 'Invisible')
    await sees(bob, 'ada', /^Offline$/)
    await reads(bob, 'ada went offline')
    await sees(ada, 'ada', /^Invisible$/)
    await sees(ada, 'ada', /^Others see you offline$/, '.seen')
    await choose(ada, 'Online')
    await sees(bob, 'ada', /^Online$/)
  })

  test('[S3] a custom status shows with emoji and end, as text and nothing else, until it is cleared', async () => {
    const server = await serve()
    const [ada, bob] = await Promise.all([openAs(server, 'ada'), openAs(server, 'bob')])
    const markup = '<img src=x onerror=alert(1)>'
    await ada.getByLabel('Emoji').fill('🧪')
    await ada.getByLabel('Your status in words').fill(markup)
    await ada.getByLabel('How long it lasts').selectOption('for 1 hour')
    await ada.getByLabel('Your status in words').press('Enter')
    await sees(bob, 'ada', /^<img src=x onerror=alert\(1\)> 🧪, until\s\d/, '.custom')
    await reads(bob, `ada: ${markup} 🧪`)
    expect(await bob.locator('img').count()).toBe(0)
    await press(ada, '📅 In a meeting')
    await reads(bob, 'ada: In a meeting 📅')
    await press(ada, 'Clear')
    await reads(bob, 'ada has no custom status any more')
    expect(await bob.locator('[data-user=ada] .custom').isVisible()).toBe(false)
  })

  test('[D4] whoever looks elsewhere is away, and back when they return', async () => {
    const server = await serve()
    const [ada, bob] = await Promise.all([openAs(server, 'ada'), openAs(server, 'bob')])
    await sees(bob, 'ada', /^Online$/)
    // A headless browser never hides a page, so this says what a hidden one would say.
    const hide = (isHidden: boolean) =>
      ada.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      }, isHidden)
    await hide(true)
    await sees(bob, 'ada', /^Away$/)
    await hide(false)
    await sees(bob, 'ada', /^Online$/)
  })

  test('[W1] any id can be watched, and what is no id leaves nothing behind', async () => {
    const server = await serve()
    const ada = await openAs(server, 'ada')
    const people = await ada.locator('[data-user]').count()
    const field = ada.getByLabel('User id to watch')
    await field.fill('é'.repeat(65))
    await field.press('Enter')
    await ada.getByRole('alert').getByText('an id is 1 to 128 bytes').waitFor()
    expect(await ada.locator('[data-user]').count()).toBe(people)
    await field.fill('zoe.quinn')
    await field.press('Enter')
    await sees(ada, 'zoe.quinn', /^Offline$/)
    await sees(ada, 'zoe.quinn', /^ZQ$/, '.initials')
    await connect(server.url, 'zoe.quinn', { platform: 'console' })
    await sees(ada, 'zoe.quinn', /^Online$/)
    await sees(ada, 'zoe.quinn', /^console$/, '.devices')
  })

  test('[W9] a late frame never takes a card back, and version 0 empties it', async () => {
    const server = await serve()
    const page = await newWindow()
    const inject = Promise.withResolvers<(frame: object) => void>()
    await page.routeWebSocket(/\/api\/v1\/ws/, (socket) => {
      socket.connectToServer()
      inject.resolve((frame) => socket.send(JSON.stringify(frame)))
    })
    await page.goto(`${server.url}/?as=ada`)
    const push = await inject.promise
    const bob = await connect(server.url, 'bob')
    await sees(page, 'bob', /^Online$/)
    const late = { ...bob.welcome.self, status: 'busy', version: bob.welcome.self.version - 1 }
    push({ type: 'presence_change', changes: [late] })
    // Frames are read in order: once this one shows, the late one has been dropped.
    push({ type: 'presence_change', changes: [{ ...late, user_id: 'carol' }] })
    await sees(page, 'carol', /^Busy$/)
    await sees(page, 'bob', /^Online$/)
    push({ type: 'presence_change', changes: [{ ...late, status: 'offline', last_seen: null, version: 0 }] })
    await sees(page, 'bob', /^Offline$/)
  })

  test('[D6] a page whose timers are slowed down comes back before anybody notices', async () => {
    const server = await serve({ heartbeat_interval_ms: 300, heartbeat_ttl_ms: 600, offline_delay_ms: 3_000 })
    const bob = await connect(server.url, 'bob')
    bob.send({ type: 'watch', user_ids: ['ada'] })
    const beating = setInterval(() => bob.send('{"type":"heartbeat","activity":"active"}'), 200)
    const ada = await newWindow()
    const connected = Promise.withResolvers<void>()
    let connections = 0
    ada.on('websocket', () => ++connections === 4 && connected.resolve())
    await ada.addInitScript('window.setInterval = window.setTimeout = () => 0')
    await ada.goto(`${server.url}/?as=ada`)
    await connected.promise
    clearInterval(beating)
    const changes = bob.heard.flatMap(({ frame }) => (frame.type === 'presence_change' ? frame.changes : []))
    expect(changes.map(({ status }) => status)).toEqual(['online'])
  })

  test('[C7, W9] a page that lost its server says so, and catches up when there is one again', async () => {
    const first = await serve()
    const [ada, bob] = await Promise.all([openAs(first, 'ada'), openAs(first, 'bob')])
    await sees(ada, 'bob', /^Online$/)
    await servers.pop()?.stop()
    await ada.getByText('Connection lost, showing the last known state').waitFor()
    await sees(ada, 'bob', /^Was online$/)
    expect(await ada.getByRole('radio', { name: 'Busy' }).isDisabled()).toBe(true)
    await bob.context().close()
    await serve({ port: Number(new URL(first.url).port) })
    await isLive(ada)
    await sees(ada, 'bob', /^Offline$/)
    expect(await ada.getByText('Connection lost').isVisible()).toBe(false)
  })

  test('[C6] outside dev mode the page asks for a token, and keeps it out of the address', async () => {
    const secret = 'a secret for this test, long enough'
    const server = await serve({ dev: false, jwt_secret: secret })
    const sign = (name: string) =>
      new SignJWT({ sub: name })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime('1h')
        .sign(new TextEncoder().encode(secret))
    const page = await newWindow()
    await page.goto(server.url)
    await page.getByLabel('User token').fill('nonsense')
    await press(page, 'Connect')
    await page.getByText('The token is not a JWT signed for this server').waitFor()
    await page.getByLabel('User token').fill(await sign('anna'))
    await page.getByLabel('Ids to watch').fill('ben, cleo')
    await press(page, 'Connect')
    await isLive(page)
    await page.getByText('You are anna').waitFor()
    await connect(server.url, 'ben', { token: await sign('ben') })
    await sees(page, 'ben', /^Online$/)
    await sees(page, 'cleo', /^Offline$/)
    expect(await page.locator('[data-user]').count()).toBe(3)
    expect(await page.locator('a:visible').count()).toBe(0)
    expect(page.url()).toBe(`${server.url}/`)
  })
})
