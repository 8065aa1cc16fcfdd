// The demo in a real browser: every window is a person, and what one does shows in the windows of the others.
import { describe, expect, test } from 'bun:test'
import { connect } from '../clients/client.ts'
import {
  choose,
  isLive,
  isSkipped,
  press,
  reads,
  reason,
  recordLooks,
  reflects,
  sees,
  useWindows,
} from './page-windows.ts'

/** Shortly before midnight it ends on another day, and says on which. */
const MEETING = /^In a meeting 📅 until (.+ )?\d{1,2}:[03]0$/

describe.skipIf(isSkipped)(`the demo in a browser${reason}`, () => {
  const { serve, open, openAs } = useWindows()

  for (const width of [1440, 1024, 360]) {
    test(`[X4] a plate shows the whole of last seen, ${width} pixels wide`, async () => {
      const server = await serve({ offline_delay_ms: 0 })
      const alice = await openAs(server, 'alice', { viewport: { width, height: 800 } })
      const bob = await connect(server.url, 'bob')
      bob.send({ type: 'leave' })
      await sees(alice, 'bob', /^Last seen just now$/, '.about')
      const isCut = await alice
        .locator('.about, .house .status')
        .evaluateAll((all) =>
          all.map((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1),
        )
      expect(new Set(isCut)).toEqual(new Set([false]))
    })
  }

  test('[X4] the story: a second window, a meeting, invisible, the lid, and the others see it', async () => {
    const server = await serve({ offline_delay_ms: 1_500 })
    const alice = await openAs(server, 'alice', { reducedMotion: 'no-preference' })
    await sees(alice, 'bob', /^Offline$/)
    await sees(alice, 'bob', /^Not seen yet$/, '.about')

    const opened = alice.context().waitForEvent('page')
    await alice.getByRole('link', { name: 'Open a second window as bob' }).click()
    const bob = await opened
    await isLive(bob)
    await sees(alice, 'bob', /^Online$/)
    await sees(alice, 'bob', /^web$/, '.about')
    await reads(alice, 'bob came online')
    await sees(bob, 'alice', /^Online$/)

    await bob.getByRole('button', { name: MEETING }).click()
    await sees(alice, 'bob', MEETING, '.bubble')
    await reflects(bob, 'other', /In a meeting 📅 until/)

    await choose(bob, 'Invisible')
    await sees(alice, 'bob', /^Offline$/)
    await sees(alice, 'bob', /^Last seen just now$/, '.about')
    await sees(bob, 'bob', /^Invisible$/)
    await reflects(bob, 'own', /Invisible/)
    await reflects(bob, 'other', /Offline/)
    await choose(bob, 'Automatic')
    await sees(alice, 'bob', /^Online$/)

    const looks = await recordLooks(alice, 'bob')
    await choose(bob, 'Lid closed')
    await bob.getByText('nothing new reaches you').waitFor()
    await reflects(bob, 'own', /Lid closed/)
    await reflects(bob, 'other', /Offline/)
    await sees(alice, 'bob', /^Offline$/)
    await bob.getByText(/^alice saw it \d+ s after you did it\.$/).waitFor()
    await choose(bob, 'In use')
    await sees(alice, 'bob', /^Online$/)
    expect(await looks()).toEqual(['online', 'offline', 'online'])
  })

  test('[D6] a lid that was closed for a moment was never seen closed', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const [alice, bob] = [await openAs(server, 'alice'), await openAs(server, 'bob')]
    await sees(alice, 'bob', /^Online$/)
    const looks = await recordLooks(alice, 'bob')
    await choose(bob, 'Lid closed')
    await sees(bob, 'alice', /^Was online$/)
    await choose(bob, 'In use')
    await sees(bob, 'alice', /^Online$/)
    await choose(bob, 'Busy')
    await sees(alice, 'bob', /^Busy$/)
    expect(await looks()).toEqual(['online', 'busy'])
  })

  test('[X4] a new window takes a user who is not here yet, and keeps that user on reload', async () => {
    const server = await serve()
    await Promise.all(['alice', 'bob', 'carol'].map((name) => connect(server.url, name)))
    const page = await open(server.url)
    await isLive(page)
    await sees(page, 'dave', /^you$/, '.tag')
    expect(new URL(page.url()).hash).toBe('#as=dave')
    expect(await page.title()).toBe('dave · Greendot')
    await page.reload()
    await isLive(page)
    await sees(page, 'dave', /^you$/, '.tag')
  })

  test('[D2] a goodbye is seen at once, and so is the return', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const [alice, bob] = [await openAs(server, 'alice'), await openAs(server, 'bob')]
    await sees(alice, 'bob', /^Online$/)
    await press(bob, 'Say goodbye')
    await sees(alice, 'bob', /^Offline$/)
    await reads(alice, 'bob went offline')
    await bob.getByText('This is what you saw when you left').waitFor()
    await sees(bob, 'alice', /^Was online$/)
    await press(bob, 'Come back')
    await sees(alice, 'bob', /^Online$/)
    await sees(bob, 'alice', /^Online$/)
  })

  test('[D2] a window that changes its user is offline as the first', async () => {
    const server = await serve({ offline_delay_ms: 60_000 })
    const [alice, window] = [await openAs(server, 'alice'), await openAs(server, 'bob')]
    await sees(alice, 'bob', /^Online$/)
    await window.getByRole('combobox', { name: 'You are' }).selectOption('carol')
    await press(window, 'Be them')
    await sees(alice, 'carol', /^Online$/)
    await sees(alice, 'bob', /^Offline$/)
    await sees(window, 'carol', /^you$/, '.tag')
  })

  test('[S1] away, busy and back show on the other side', async () => {
    const server = await serve()
    const [alice, bob] = [await openAs(server, 'alice'), await openAs(server, 'bob')]
    await choose(alice, 'Busy')
    await sees(bob, 'alice', /^Busy$/)
    await sees(alice, 'alice', /^Busy$/)
    await reads(bob, 'alice is busy')
    await choose(alice, 'Away')
    await reads(bob, 'alice went away')
    await choose(alice, 'Automatic')
    await reads(bob, 'alice is back online')
  })

  test('[D4] an idle laptop is seen as away', async () => {
    const server = await serve()
    const [alice, bob] = [await openAs(server, 'alice'), await openAs(server, 'bob')]
    await sees(bob, 'alice', /^Online$/)
    await choose(alice, 'Idle')
    await sees(bob, 'alice', /^Away$/)
    await reflects(alice, 'other', /Away/)
    await choose(alice, 'In use')
    await sees(bob, 'alice', /^Online$/)
  })

  test('[S3] a custom status is text and nothing else, ends by itself, and can be cleared', async () => {
    const server = await serve()
    const [alice, bob] = [await openAs(server, 'alice'), await openAs(server, 'bob')]
    const markup = '<img src=x onerror=alert(1)>'
    await alice.getByLabel('Emoji').fill('🧪')
    await alice.getByLabel('Your status in words').fill(markup)
    await alice.getByLabel('Your status in words').press('Enter')
    await reads(bob, `alice: ${markup} 🧪`)
    expect(await bob.locator('img').count()).toBe(0)
    await press(alice, 'Clear')
    await reads(bob, 'alice: status gone')

    // As if "for 15 seconds" were over soon: the page's clock is behind, and the server goes by its own.
    await alice.evaluate(() => {
      const now = Date.now
      Date.now = () => now() - 9_000
    })
    await press(alice, 'Kettle is on ☕ for 15 s')
    await sees(bob, 'alice', /^Kettle is on ☕ until/, '.bubble')
    await bob.locator('[data-user=alice] .bubble:empty').waitFor({ state: 'attached' })
    await reflects(alice, 'other', /^Onlineon web$/)
  })

  test('[S5] hiding from one viewer is seen by that viewer only, and outlasts a reload', async () => {
    const server = await serve()
    const alice = await openAs(server, 'alice')
    const [bob, carol] = [await openAs(server, 'bob'), await openAs(server, 'carol')]
    await sees(bob, 'alice', /^Online$/)
    await alice.getByLabel('Hide from bob').check()
    await sees(bob, 'alice', /^Offline$/)
    await sees(bob, 'alice', /^Not seen yet$/, '.about')
    await reflects(alice, 'other', /Offline/)
    await sees(carol, 'alice', /^Online$/)
    await alice.getByLabel('Who looks at you').selectOption('carol')
    await reflects(alice, 'other', /Online/)
    await alice.reload()
    await isLive(alice)
    await reflects(alice, 'other', /Offline/)
    expect(await alice.getByLabel('Hide from bob').isChecked()).toBe(true)
    await alice.getByLabel('Hide from bob').uncheck()
    await sees(bob, 'alice', /^Online$/)
  })

  test('[W1] any id can be watched, and what is no id leaves nothing behind', async () => {
    const server = await serve()
    const alice = await openAs(server, 'alice')
    const houses = await alice.locator('.house').count()
    const field = alice.getByLabel('User id to watch')
    await field.fill('é'.repeat(65))
    await field.press('Enter')
    expect(await field.evaluate((input: HTMLInputElement) => input.validationMessage)).toStartWith(
      'An id has 1',
    )
    expect(await alice.locator('.house').count()).toBe(houses)
    await field.fill('zoe.quinn')
    await field.press('Enter')
    await sees(alice, 'zoe.quinn', /^Offline$/)
    await connect(server.url, 'zoe.quinn', { platform: 'console' })
    await sees(alice, 'zoe.quinn', /^Online$/)
    await sees(alice, 'zoe.quinn', /^console$/, '.about')
  })

  test('[W9] a late frame never takes a house back, and version 0 empties it', async () => {
    const server = await serve()
    const page = await open('about:blank')
    const inject = Promise.withResolvers<(frame: object) => void>()
    await page.routeWebSocket(/\/api\/v1\/ws/, (socket) => {
      socket.connectToServer()
      inject.resolve((frame) => socket.send(JSON.stringify(frame)))
    })
    await page.goto(`${server.url}/#as=alice&neighbours=off`)
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
})
