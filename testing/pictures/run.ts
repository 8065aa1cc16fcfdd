// `npm run pictures`: takes the pictures in docs/images, which README.md shows, of real servers with users that
// come and go. Fonts are those of the machine: the pictures in the repository have Inter and Noto Color Emoji.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { connect, type TestClient } from '../clients/client.ts'
import { spawnServer, type TestProcess } from '../clients/server.ts'
import { readCommandLine } from '../services/command-line.ts'
import { startRedis } from '../services/redis.ts'
import { CHROMIUM_FLAGS, findChromium } from '../services/tools/chromium.ts'
import { playVisitors } from './visitors.ts'

const HELP = `npm run pictures -- [--minutes 4] [--folder docs/images] [--report <report.html>]

Starts a Redis and three greendot processes, connects users for some minutes, so that the charts have content,
and writes demo-light.png and dashboard.png. With --report it takes only a picture of the charts of that report of the
largest run (npm run bench:million), million.png. Needs Chromium and Redis, which are installed if possible.`

const { values } = readCommandLine({
  options: {
    minutes: { type: 'string', default: '4' },
    folder: { type: 'string', default: resolve(import.meta.dir, '../../docs/images') },
    report: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const minutes = Number(values.minutes)
if (!(minutes > 0 && minutes <= 60)) {
  console.error('--minutes is a number above 0, up to 60')
  process.exit(2)
}

const open = async (browser: Browser, url: string, height: number): Promise<Page> => {
  const context = await browser.newContext({
    viewport: { width: 1280, height },
    colorScheme: 'light',
    locale: 'en-GB',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto(url)
  return page
}

const pathOf = (name: string): string => resolve(values.folder, `${name}.png`)

async function say(user: TestClient, text: string, emoji: string): Promise<void> {
  user.send({ type: 'set_custom_status', text, emoji, ref: 1 })
  await user.next('ok')
}

async function takeDemo(browser: Browser): Promise<void> {
  const server = await spawnServer()
  await connect(server.url, 'erin', { platform: 'tablet' })
  const bob = await connect(server.url, 'bob', { platform: 'web' })
  await say(bob, 'In a meeting', '📅')
  const page = await open(browser, `${server.url}/#as=alice`, 860)
  await page.locator('body[data-link=live]').waitFor()
  await page.locator('[data-user=bob] .bubble', { hasText: 'In a meeting' }).waitFor()
  await page.getByRole('radio', { name: 'Invisible' }).check()
  await page.getByText(/bob saw it \d+ ms after/).waitFor()
  await page.screenshot({ path: pathOf('demo-light') })
  await server.stop()
}

async function takeDashboard(browser: Browser): Promise<void> {
  const store = await startRedis()
  const servers: TestProcess[] = [await spawnServer({ redis_url: store.url })]
  for (const roles of ['gateway,presence', 'gateway'])
    servers.push(await spawnServer({ redis_url: store.url, roles }, servers[0]!.folder))
  const bob = await connect(servers[0]!.url, 'bob', { platform: 'mobile' })
  await say(bob, 'In a meeting', '📅')
  const page = await open(browser, `${servers[0]!.url}/#dashboard&user=bob&viewer=alice`, 900)
  const urls = servers.map(({ url }) => url)
  await playVisitors({ urls, durationMs: minutes * 60_000, staying: bob })
  await page.locator('.because li').first().waitFor()
  await page.screenshot({ path: pathOf('dashboard'), fullPage: true })
  // The first has the folder, and takes it away.
  for (const server of servers.reverse()) await server.stop()
  await store.stop()
}

async function takeReport(browser: Browser, path: string): Promise<void> {
  const page = await open(browser, pathToFileURL(path).href, 900)
  await page.locator('[data-chart] canvas').first().waitFor()
  await page.locator('.charts').screenshot({ path: pathOf('million') })
}

const found = await findChromium()
if (found.state === 'missing') {
  console.error(found.why)
  process.exit(1)
}
const browser = await chromium.launch({ executablePath: found.path, args: CHROMIUM_FLAGS })
try {
  if (values.report !== undefined) await takeReport(browser, values.report)
  else {
    await takeDemo(browser)
    await takeDashboard(browser)
  }
} finally {
  await browser.close()
}
process.exit(0)
