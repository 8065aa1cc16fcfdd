// The demo and its server: lost, killed and restarted while windows are open.
import { describe, expect, test } from 'bun:test'
import { connect } from '../client.ts'
import { spawnServer } from '../server.ts'
import { isLive, isSkipped, reason, recordLooks, reflects, sees, useWindows } from './page-windows.ts'

const GRACE_MS_MAX = 15_000

describe.skipIf(isSkipped)(`the demo and its server${reason}`, () => {
  const { openAs, onEnd } = useWindows()

  test('[C7, D6] a server that is killed and restarted is noticed by its page, and nobody by anybody', async () => {
    const settings = { gateway_lease_ms: 3_000, offline_delay_ms: 3_000 }
    const first = await spawnServer(settings)
    onEnd(first.stop)
    const [alice, bob] = [await openAs(first, 'alice'), await openAs(first, 'bob')]
    await connect(first.url, 'carol')
    await sees(alice, 'bob', /^Online$/)
    await sees(alice, 'carol', /^Online$/)
    const looks = await recordLooks(alice, 'bob')
    await first.kill()
    await alice.getByText('Connection lost. Coming back').waitFor()
    await sees(alice, 'bob', /^Was online$/)
    await sees(alice, 'alice', /^Was online$/)
    await reflects(alice, 'own', /^Not known$/)
    await reflects(alice, 'other', /^Not known$/)
    expect(await alice.getByRole('radio', { name: 'Busy' }).isDisabled()).toBe(true)
    const second = await spawnServer({ ...settings, port: Number(new URL(first.url).port) }, first.folder)
    onEnd(second.stop)
    await isLive(alice)
    await isLive(bob)
    await sees(alice, 'bob', /^Online$/)
    await reflects(alice, 'own', /^Online/)
    await reflects(alice, 'other', /^Online/)
    expect(await alice.getByText('Connection lost').isVisible()).toBe(false)
    // Carol did not come back. When that shows, the grace is over for everybody.
    await alice.locator('[data-user=carol][data-look=offline]').waitFor({ timeout: GRACE_MS_MAX })
    await sees(alice, 'bob', /^Online$/)
    expect(await looks()).toEqual(['online'])
    expect(await alice.locator('.story li', { hasText: 'bob' }).allInnerTexts()).toHaveLength(1)
  })
})
