// How <green-dot> looks, on a page with every look of it: told apart without colour, readable in light and
// dark and in forced colours, without motion where the system asks for it, in the colours a page gives it.
import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { connect, type TestClient } from '../clients/client.ts'
import { bundle, describeWithBrowser } from './fixtures/app-pages.ts'

const FIXTURES = join(import.meta.dir, 'fixtures')
/** What WCAG 2.2 asks of graphics that say something (1.4.11). */
const CONTRAST_MIN = 3

declare global {
  interface Window {
    /** Whose dots have moved. */
    moved: string[]
  }
}

describeWithBrowser('the looks of <green-dot>', (browser) => {
  let files: Record<string, string> = {}
  beforeAll(async () => {
    const [html, css, script] = await Promise.all([
      Bun.file(join(FIXTURES, 'element-gallery.html')).text(),
      Bun.file(join(FIXTURES, 'element-gallery.css')).text(),
      bundle('packages/client/src/element.ts'),
    ])
    files = { 'page.html': html, 'gallery.css': css, 'element.js': script }
  })

  interface Gallery {
    page: Page
    ada: TestClient
    dave: TestClient
    stop(): Promise<void>
  }

  /** Ada is online, Bob away, Carol busy, Dave offline, and Erin unknown. */
  async function openGallery(): Promise<Gallery> {
    const server = await browser.serve()
    const [ada, bob, carol, dave] = await Promise.all(
      ['ada', 'bob', 'carol', 'dave'].map((name) => connect(server.url, name)),
    )
    bob!.send({ type: 'set_availability', status: 'away' })
    carol!.send({ type: 'set_availability', status: 'busy' })
    dave!.send({ type: 'leave' })
    await dave!.closed
    const html = files['page.html']!.replace('SERVER', server.url)
    const site = browser.publish(server, { ...files, 'page.html': html })
    const { page } = await browser.window({ viewport: { width: 600, height: 620 } })
    await page.goto(`${site}/page.html`)
    const all = ['Ada: online', 'Bob: away', 'Carol: busy', 'dave: offline', 'Erin: unknown']
    await Promise.all(all.map((name) => page.getByRole('img', { name }).first().waitFor()))
    return { page, ada: ada!, dave: dave!, stop: server.stop }
  }

  /** One dot after another, all in the same place, so that nothing differs but the shape. */
  async function pictureOf(page: Page, user: string, words: string): Promise<string> {
    const place = page.locator('#plain green-dot').first()
    await place.evaluate((dot, user) => dot.setAttribute('user', user), user)
    await page.locator('#plain').getByRole('img', { name: words }).first().waitFor()
    return (await place.screenshot()).toString('base64')
  }

  test('[X3] without any colour, every status has a look of its own, and so has what is not known any more', async () => {
    const { page, stop } = await openGallery()
    await page.emulateMedia({ forcedColors: 'active' })
    const { text, dots } = await page.evaluate(() => ({
      text: getComputedStyle(document.getElementById('plain')!).color,
      dots: Array.from(
        document.querySelectorAll('#plain green-dot, #lost green-dot'),
        (dot) => getComputedStyle(dot.shadowRoot!.querySelector('path')!).fill,
      ),
    }))
    expect(new Set(dots)).toEqual(new Set([text]))
    const online = await pictureOf(page, 'ada', 'Ada: online')
    const away = await pictureOf(page, 'bob', 'Ada: away')
    const busy = await pictureOf(page, 'carol', 'Ada: busy')
    const offline = await pictureOf(page, 'dave', 'Ada: offline')
    const unknown = await pictureOf(page, '', 'Ada: unknown')
    expect(await pictureOf(page, 'ada', 'Ada: online')).toBe(online)
    await stop()
    await page.getByRole('img', { name: 'Bob: was' }).first().waitFor()
    const wasAway = await pictureOf(page, 'bob', 'Ada: was away')
    const wasBusy = await pictureOf(page, 'carol', 'Ada: was busy')
    expect(new Set([online, away, busy, offline, unknown, wasAway, wasBusy]).size).toBe(7)
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`[X3] in ${colorScheme} axe objects to nothing, and every status stands out from the page`, async () => {
      const { page } = await openGallery()
      await page.emulateMedia({ colorScheme })
      await page.evaluate(axe.source)
      const { violations, passes } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run(),
      )
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([])
      // It did look inside of the dots.
      expect(passes.map(({ id }) => id)).toContain('svg-img-alt')
      const { ground, dots } = await page.evaluate(() => ({
        ground: getComputedStyle(document.documentElement).backgroundColor,
        dots: Array.from(
          document.querySelectorAll('#plain green-dot, #lost green-dot'),
          (dot) => getComputedStyle(dot.shadowRoot!.querySelector('path')!).fill,
        ),
      }))
      expect(new Set(dots).size).toBe(4)
      for (const dot of dots) expect(contrast(dot, ground)).toBeGreaterThanOrEqual(CONTRAST_MIN)
    })
  }

  test('[X3] an arrival is animated, except with reduced motion', async () => {
    const { page, ada } = await openGallery()
    await page.evaluate(() => {
      Object.assign(window, { moved: [] })
      for (const dot of document.querySelectorAll('#plain green-dot'))
        dot.shadowRoot!.addEventListener('animationstart', () => window.moved.push(dot.getAttribute('user')!))
    })
    const arrive = async () => {
      ada.send({ type: 'set_availability', status: 'invisible' })
      await page.getByRole('img', { name: 'Ada: offline' }).first().waitFor()
      ada.send({ type: 'set_availability', status: 'online' })
      await page.getByRole('img', { name: 'Ada: online' }).first().waitFor()
      // A movement begins with the frame that shows it.
      return page.evaluate(async () => {
        for (let frames = 0; frames < 2; frames++)
          await new Promise((resolve) => requestAnimationFrame(resolve))
        return window.moved.splice(0)
      })
    }
    expect(await arrive()).toEqual(['ada'])
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await arrive()).toEqual([])
  })

  test('[X3] a page chooses size, colours and parts', async () => {
    const { page } = await openGallery()
    const styleOf = (selector: string, part: string, property: string) =>
      page.evaluate(
        ([selector, part, property]) => {
          const inside = document.querySelector(selector!)!.shadowRoot!.querySelector(`[part~=${part}]`)!
          return getComputedStyle(inside).getPropertyValue(property!)
        },
        [selector, part, property],
      )
    expect(await styleOf('#plain [user=ada]', 'dot', 'width')).toBe('12px')
    expect(await styleOf('.large [user=ada]', 'dot', 'width')).toBe('36px')
    expect(await styleOf('.small [user=ada]', 'dot', 'width')).toBe('8px')
    expect(await styleOf('.themed [user=ada]', 'dot', 'color')).toBe('rgb(91, 33, 182)')
    expect(await styleOf('.themed [user=ada]', 'label', 'font-weight')).toBe('700')
    expect(await styleOf('.themed [user=carol]', 'busy', 'border-radius')).toBe('0px')
  })
})

/** By WCAG: from 1, the same, to 21. */
function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

function luminance(colour: string): number {
  const [red, green, blue] = colour
    .match(/[\d.]+/g)!
    .map((part) => Number(part) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
