// The demo outside dev mode: it needs a token, and shows the user of that token only.
import { describe, expect, test } from 'bun:test'
import { connect } from '../clients/client.ts'
import { securedSettings, userToken } from '../http/tokens.ts'
import { isLive, isSkipped, press, reason, sees, useWindows } from './page-windows.ts'

describe.skipIf(isSkipped)(`the demo outside dev mode${reason}`, () => {
  const { serve, open } = useWindows()

  test('[C6] asks for a token, refuses a wrong one in words, and keeps it out of the address', async () => {
    const server = await serve({ ...securedSettings, pages: 'all' })
    const page = await open(server.url)
    await page.getByLabel('User token').fill('nonsense')
    await press(page, 'Connect')
    await page.getByRole('alert').getByText('the token is not a JWT signed for this server').waitFor()
    await page.getByLabel('User token').fill(userToken('anna'))
    await page.getByLabel('Ids to watch').fill('ben, cleo')
    await press(page, 'Connect')
    await isLive(page)
    await page.getByText('You are anna').waitFor()
    await connect(server.url, 'ben', { token: userToken('ben') })
    await sees(page, 'ben', /^Online$/)
    await sees(page, 'cleo', /^Offline$/)
    expect(await page.locator('.house').count()).toBe(3)
    // No other user can be chosen, neither as the own user nor as a viewer.
    expect(await page.getByRole('link', { name: /window as/ }).count()).toBe(0)
    expect(await page.locator('[data-eyes]').count()).toBe(0)
    expect(page.url()).toBe(`${server.url}/`)
    await page.reload()
    await isLive(page)
    await sees(page, 'ben', /^Online$/)
  })
})
