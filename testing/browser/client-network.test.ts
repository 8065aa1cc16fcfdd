// The client in two real browsers: users that see each other, a browser that loses its network and gets it
// back, and an idle user. A state that may be outdated is always marked as stale.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createPatientClock } from '../clients/patient-clock.ts'
import type { TestServer } from '../clients/server.ts'
import { type BrowserFixture, describeWithBrowser } from './fixtures/app-pages.ts'

const CLIENT = join(import.meta.dir, '../../packages/client/src/index.ts')
/** Many beats long, so that a page that gets no processor for a while does not seem silent. */
const BEATS = { heartbeat_interval_ms: 300, heartbeat_ttl_ms: 5_000, offline_delay_ms: 0 }
const AWAY_AFTER_MINUTES = 6

const APP = `
  import { connect } from '/client.js'
  const [me, other, url] = decodeURIComponent(location.hash.slice(1)).split(' ')
  window.dot = connect({ url, token: 'dev:' + me, tabs: 'separate' })
  window.told = []
  dot.watch([other], ({ status, stale }) => told.push(status + (stale ? ', stale' : '')))`

async function appFor(browser: BrowserFixture, server: TestServer): Promise<string> {
  const bundle = await Bun.build({ entrypoints: [CLIENT], target: 'browser', format: 'esm' })
  const html = '<!doctype html><title>app</title><script type="module" src="/app.js"></script>'
  return browser.publish(server, {
    'index.html': html,
    'app.js': APP,
    'client.js': await bundle.outputs[0]!.text(),
  })
}

const told = (page: Page) => page.evaluate(() => window.told)
const tells = (page: Page, last: string) =>
  page.waitForFunction((expected) => window.told?.at(-1) === expected, last)

describeWithBrowser('the client on a network', (browser) => {
  async function two(settings = {}) {
    const server = await browser.serve(settings, createPatientClock())
    const app = await appFor(browser, server)
    const [alice, bob] = await Promise.all([browser.window(), browser.window()])
    const visit = (page: Page, me: string, other: string) =>
      page.goto(`${app}/index.html#${encodeURIComponent(`${me} ${other} ${server.url}`)}`)
    return { alice: alice.page, bob: bob.page, visit }
  }

  test('[X3] two users in two browsers see what the other one does', async () => {
    const { alice, bob, visit } = await two()
    await visit(alice, 'alice', 'bob')
    await tells(alice, 'offline')
    await visit(bob, 'bob', 'alice')
    await Promise.all([tells(alice, 'online'), tells(bob, 'online')])
    await bob.evaluate(() => window.dot.setAvailability('busy'))
    await tells(alice, 'busy')
    await alice.evaluate(() => window.dot.leave())
    await tells(bob, 'offline')
    // A client that left receives nothing more, and its states are stale.
    expect(await told(alice)).toEqual(['offline', 'online', 'busy', 'busy, stale'])
    expect(await told(bob)).toEqual(['online', 'offline'])
  })

  test('[X3] [W9] without a network what was seen is stale, and after it the truth comes at once', async () => {
    const { alice, bob, visit } = await two(BEATS)
    await visit(bob, 'bob', 'alice')
    // From then on bob is connected, and alice does not see him come.
    await tells(bob, 'offline')
    await visit(alice, 'alice', 'bob')
    await Promise.all([tells(alice, 'online'), tells(bob, 'online')])
    await alice.context().setOffline(true)
    await tells(alice, 'online, stale')
    await tells(bob, 'offline')
    await bob.evaluate(() => window.dot.setAvailability('away'))
    await bob.evaluate(() => window.dot.setAvailability('busy'))
    await alice.context().setOffline(false)
    await tells(alice, 'busy')
    await tells(bob, 'online')
    // Bob was never offline, and alice does not get the states in between.
    expect(await told(alice)).toEqual(['online', 'online, stale', 'busy'])
  })

  test('[X3] [D4] a user who does nothing is away after their time, and back when they move', async () => {
    const { alice, bob, visit } = await two()
    await alice.clock.install()
    await visit(bob, 'bob', 'alice')
    await tells(bob, 'offline')
    await visit(alice, 'alice', 'bob')
    await tells(bob, 'online')
    await alice.clock.fastForward(AWAY_AFTER_MINUTES * 60_000)
    await tells(bob, 'away')
    await alice.mouse.move(50, 50)
    await alice.mouse.move(60, 60)
    await tells(bob, 'online')
    expect(await told(bob)).toEqual(['offline', 'online', 'away', 'online'])
  })
})
