// The demo and its server: lost, killed and restarted while windows are open.
import { describe, expect, test } from 'bun:test'
import { spawnServer } from '../clients/server.ts'
import { freePort } from '../services/ports.ts'
import { isLive, isSkipped, reason, recordLooks, reflects, sees, useWindows } from './page-windows.ts'

describe.skipIf(isSkipped)(`the demo and its server${reason}`, () => {
  const { openAs, onEnd } = useWindows()

  test('[C7, D6] a page notices that its server is killed and restarted, and shows no user as gone', async () => {
    // A grace that does not end before the test does.
    const settings = { gateway_lease_ms: 60_000, offline_delay_ms: 60_000, port: await freePort() }
    const first = await spawnServer(settings)
    onEnd(first.stop)
    const [alice, bob] = [await openAs(first, 'alice'), await openAs(first, 'bob')]
    await sees(alice, 'bob', /^Online$/)
    const looks = await recordLooks(alice, 'bob')
    await first.kill()
    await alice.getByText('Connection lost. Coming back').waitFor()
    await sees(alice, 'bob', /^Was online$/)
    await sees(alice, 'alice', /^Was online$/)
    await reflects(alice, 'own', /^Not known$/)
    await reflects(alice, 'other', /^Not known$/)
    expect(await alice.getByRole('radio', { name: 'Busy' }).isDisabled()).toBe(true)
    const second = await spawnServer(settings, first.folder)
    onEnd(second.stop)
    await isLive(alice)
    await isLive(bob)
    await sees(alice, 'bob', /^Online$/)
    await reflects(alice, 'own', /^Online/)
    await reflects(alice, 'other', /^Online/)
    expect(await alice.getByText('Connection lost').isVisible()).toBe(false)
    expect(await looks()).toEqual(['online'])
    expect(await alice.locator('.story li', { hasText: 'bob' }).allInnerTexts()).toHaveLength(1)
  })
})
