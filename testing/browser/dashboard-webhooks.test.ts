// The webhooks on the dashboard, in a real browser: how they are, a test event, a replay, and enabling one again.
import { describe, expect, test } from 'bun:test'
import { connect } from '../clients/client.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { addHook, getHook } from '../webhooks/hooks.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { isSkipped, reason, useWindows } from './page-windows.ts'

describe.skipIf(isSkipped)(`the webhooks on the dashboard${reason}`, () => {
  const { serve, open, onEnd } = useWindows()

  test('[X4] [X5] shows that one was disabled, tries it, replays what failed and enables it', async () => {
    const { url } = await serve({ log_level: 'silent' })
    const page = await open(`${url}/#dashboard`)
    const panel = page.getByRole('region', { name: 'Webhooks', exact: true })
    await panel.getByText('There are none').waitFor()
    let status = 410
    const receiver = startReceiver(onEnd, () => new Response(null, { status }))
    const { id } = await addHook(url, { url: receiver.url, events: ['user.online'] })
    await connect(url, 'anna')
    await panel.getByText('Disabled: the endpoint answered 410').waitFor()
    await panel.getByRole('button', { name: `Test ${id}` }).click()
    await panel.getByText(`${id}: the endpoint answered 410`).waitFor()
    status = 200
    await panel.getByRole('button', { name: `Replay ${id}` }).click()
    await panel.getByText(`${id}: 1 sent again`).waitFor()
    await panel.getByRole('button', { name: `Enable ${id}` }).click()
    await panel.getByText(`${id}: enabled`).waitFor()
    await panel.getByText('Works').waitFor()
    await until(WAIT_MS, 'the replayed change', async () => (await getHook(url, id)).pending === 0)
    expect(receiver.events.map(({ user_id }) => user_id)).toEqual(['anna'])
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  })
})
