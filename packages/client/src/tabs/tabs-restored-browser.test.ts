// A page that the browser keeps after the user went elsewhere, and restores. Only a whole Chromium has the
// back-forward cache that does this.
import { expect, test } from 'bun:test'
import { describeWithTabs, get, isLive } from '../../../../testing/browser/fixtures/tabs.ts'
import { findChromium } from '../../../../testing/services/tools/chromium.ts'

describeWithTabs('restored pages in a browser', await findChromium(), (fixture) => {
  const { serve, openTab, bob, site } = fixture

  test('[X3] a page restored from the back-forward cache reconnects', async () => {
    await serve()
    const tab = await openTab()
    await tab.evaluate('window.mark = 1')
    await tab.goto(`${site()}/elsewhere`)
    await changeBob()
    // Restored without loading.
    await tab.goBack({ waitUntil: 'commit' })
    expect(await get<number | undefined>(tab, 'window.mark')).toBe(1)
    await isLive(tab)
    await tab.waitForFunction(`dot.get('bob').status === 'busy'`)
  })

  /** Changes bob while no page watches, and waits for the answer. */
  async function changeBob(): Promise<void> {
    bob().send({ type: 'set_availability', status: 'busy', ref: 'made' })
    await bob().next('ok', ({ ref }) => ref === 'made')
  }
})
