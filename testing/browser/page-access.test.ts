// Accessibility of the page: both views and the API page, in both themes, on a phone and on a desktop, by
// keyboard, checked by axe.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { connect } from '../clients/client.ts'
import { securedSettings } from '../http/tokens.ts'
import { isLive, isSkipped, reason, sees, useWindows } from './page-windows.ts'

const AXE = readFileSync(resolve(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8')
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }

/** Themes differ in colours only, so the other rules are checked in one of them. */
const RULES = { light: {}, dark: { runOnly: ['color-contrast', 'link-in-text-block'] } }

/** The violations and their places in both themes and sizes, after all transitions of colours have ended. */
async function violations(page: Page): Promise<string[]> {
  const found: string[] = []
  await page.evaluate(AXE)
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const options = { ...RULES[colorScheme], resultTypes: ['violations'] }
      const results = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
      for (const { id, nodes } of results.violations)
        for (const { target } of nodes) found.push(`${colorScheme}, ${size}: ${id}: ${target.join(' ')}`)
    }
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width > viewport.width) found.push(`${size}: ${width} pixels wide`)
  }
  return found
}

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document
    return element?.closest('[data-user]')?.getAttribute('data-user') ?? element?.textContent
  })

/** Presses the tab key until this element has the focus. */
async function tabTo(page: Page, isThere: (page: Page) => Promise<boolean>): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if (await isThere(page)) return
  }
  throw new Error('the tab key does not lead there')
}

const isOn = (selector: string) => (page: Page) =>
  page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)

describe.skipIf(isSkipped)(`access to the page${reason}`, () => {
  const { serve, open, openAs } = useWindows()

  test('[X4] the demo has no violations', async () => {
    const server = await serve()
    await connect(server.url, 'bob')
    const carol = await connect(server.url, 'carol', { platform: 'mobile' })
    carol.send({ type: 'set_availability', status: 'busy' })
    carol.send({ type: 'set_custom_status', text: 'In a meeting', emoji: '📅' })
    await connect(server.url, 'dave', { query: '&activity=idle' })
    const page = await open(`${server.url}/#as=alice`)
    await isLive(page)
    await sees(page, 'carol', /^In a meeting/, '.bubble')
    expect(await violations(page)).toEqual([])
    await page.locator('[data-user=carol] button').click()
    await page.getByRole('dialog').waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('radio', { name: 'Lid closed' }).check()
    await sees(page, 'carol', /^Was busy$/)
    expect(await violations(page)).toEqual([])
  })

  test('[X4] the dashboard has no violations', async () => {
    const server = await serve()
    const page = await open(`${server.url}/#dashboard&user=bob&viewer=alice`)
    await page.locator('.chart canvas').first().waitFor()
    await page.locator('.feed-panel[data-live]').waitFor()
    await connect(server.url, 'bob')
    await page.locator('.feed li').first().waitFor()
    await page.locator('.because li').first().waitFor()
    await page.getByText('As JSON').click()
    expect(await violations(page)).toEqual([])
    await page.route('**/api/v1/stats', (route) => route.abort())
    await page.getByText('These are the last numbers it gave').waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('[X4, X8] the API page has no violations', async () => {
    const server = await serve()
    const page = await open(`${server.url}/docs`)
    await page.locator('.operation').first().waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('[X4, C6] the sign-in pages have no violations', async () => {
    const server = await serve({ ...securedSettings, pages: 'all' })
    const page = await open(server.url)
    await page.getByLabel('User token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.locator('.trouble:not(:empty)').waitFor()
    expect(await violations(page)).toEqual([])
    await page.goto(`${server.url}/#dashboard`)
    await page.getByLabel('Server key').waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('[X4, S1] the keyboard is enough for the demo', async () => {
    const server = await serve()
    const bob = await openAs(server, 'bob')
    const page = await openAs(server, 'alice')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('view')
    expect(new URL(page.url()).hash).toBe('#as=alice&neighbours=off')

    await tabTo(page, isOn('[data-user=bob] button'))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('bob').first().waitFor()
    await page.keyboard.press('Escape')
    expect(await focused(page)).toBe('bob')

    await tabTo(page, isOn('[name=laptop]:checked'))
    await page.keyboard.press('ArrowRight')
    await sees(bob, 'alice', /^Away$/)
    await page.keyboard.press('ArrowLeft')
    await sees(bob, 'alice', /^Online$/)
    await tabTo(page, isOn('[name=availability]:checked'))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await sees(bob, 'alice', /^Busy$/)
    await tabTo(page, isOn('.preset'))
    await page.keyboard.press('Enter')
    await sees(bob, 'alice', /^In a meeting 📅/, '.bubble')
    await tabTo(page, isOn('[name=text]'))
    await page.keyboard.type('Typing')
    await page.keyboard.press('Enter')
    await sees(bob, 'alice', /^Typing$/, '.bubble')
  })

  test('[X4, S7] the keyboard is enough for the dashboard', async () => {
    const server = await serve()
    await connect(server.url, 'bob')
    const page = await open(`${server.url}/#as=alice&neighbours=off`)
    await isLive(page)
    await tabTo(page, isOn('#to-dashboard'))
    await page.keyboard.press('Enter')
    await page.locator('.tiles').waitFor()
    await tabTo(page, isOn('[name=user]'))
    await page.keyboard.type('bob')
    await page.keyboard.press('Tab')
    await page.keyboard.type('alice')
    await page.keyboard.press('Enter')
    await page.getByText('alice sees: bob is online').waitFor()
    await tabTo(page, isOn('summary'))
    await page.keyboard.press('Enter')
    await page.locator('details pre').waitFor()
    await tabTo(page, isOn('.feed-panel header button'))
    await page.keyboard.press('Space')
    expect(await focused(page)).toBe('Go on')
  })
})
