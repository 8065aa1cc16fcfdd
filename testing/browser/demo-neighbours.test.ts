// The simulated neighbours: played over real connections by one window of a browser, for all of them.
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { NEIGHBOURS } from '../../packages/dashboard/src/demo/users/sample-users.ts'
import { sceneOf } from '../../packages/dashboard/src/demo/users/simulated-schedule.ts'
import { connect } from '../clients/client.ts'
import { createPatientClock } from '../clients/patient-clock.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { isLive, isSkipped, reason, sees, useWindows } from './page-windows.ts'

const HOUR_MS = 3_600_000
/** Long enough for the other window to connect all neighbours, on a busy machine too. */
const HANDOVER_MS_MAX = 8_000
/** How late a scene may be played. */
const LATE_MS = 2_000

/** The neighbours that must stay online all that time. */
function steadyFrom(from: number, to: number): string[] {
  return NEIGHBOURS.filter((_, index) => {
    for (let at = from - LATE_MS; at <= to; at += 500) if (!sceneOf(index, at).isHere) return false
    return true
  })
}

describe('a simulated day', () => {
  test('[X4] has everything in it', () => {
    const scenes = Array.from({ length: HOUR_MS / 1_000 }, (_, second) =>
      NEIGHBOURS.map((__, index) => sceneOf(index, second * 1_000)),
    ).flat()
    expect(new Set(scenes.map(({ isHere }) => isHere)).size).toBe(2)
    expect(new Set(scenes.map(({ activity }) => activity)).size).toBe(2)
    expect(scenes.some(({ availability }) => availability === 'busy')).toBe(true)
    expect(scenes.some(({ says }) => says !== null)).toBe(true)
  })

  test('[X4] never empties the street', () => {
    for (let at = LATE_MS; at < HOUR_MS; at += 1_000)
      expect(steadyFrom(at, at + HANDOVER_MS_MAX + LATE_MS).length).toBeGreaterThan(0)
  })
})

describe.skipIf(isSkipped)(`the neighbours in a browser${reason}`, () => {
  const { serve, open } = useWindows()
  const someoneSimulated = (page: Page) =>
    page
      .locator('.house:has(.tag-simulated):is([data-look=online], [data-look=away], [data-look=busy])')
      .first()

  /** The street is drawn again some time after a choice. */
  const hasTags = (page: Page, count: number) =>
    // Asked again from here: the page forbids eval, by which a browser would ask itself again.
    until(WAIT_MS, `${count} tags`, async () => (await page.locator('.tag-simulated').count()) === count)

  test('[X4] are marked, come by themselves, and go when they are not wanted', async () => {
    const server = await serve({ offline_delay_ms: 300 })
    const alice = await open(`${server.url}/#as=alice`)
    await isLive(alice)
    await hasTags(alice, NEIGHBOURS.length)
    await someoneSimulated(alice).waitFor()
    await alice.getByLabel('Simulated neighbours come and go').uncheck()
    expect(new URL(alice.url()).hash).toBe('#as=alice&neighbours=off')
    await isLive(alice)
    await hasTags(alice, 0)
    for (const name of NEIGHBOURS) await sees(alice, name, /^Offline$/)
  })

  test('[D6, X4] another window takes over from one that is closed, without a visible change', async () => {
    const server = await serve({ offline_delay_ms: HANDOVER_MS_MAX }, createPatientClock())
    const first = await open(`${server.url}/#as=alice`)
    await isLive(first)
    const second = await first.context().newPage()
    await second.goto(`${server.url}/#as=bob`)
    await isLive(second)
    await someoneSimulated(second).waitFor()
    const watcher = await connect(server.url, 'watcher')
    const from = Date.now()
    watcher.send({ type: 'watch', user_ids: [...NEIGHBOURS, 'alice'] })
    await watcher.next('presence_state')
    const before = watcher.heard.length
    await first.close()
    // When alice's window closes, the neighbours that it simulated go offline, unless another window took over.
    await watcher.sees('alice', ({ status }) => status === 'offline', { since: before })
    const steady = steadyFrom(from, Date.now())
    for (const name of steady) {
      const seen = watcher.sightings(name, before).map(({ presence }) => presence.status)
      expect([name, seen.includes('offline')]).toEqual([name, false])
    }
    await someoneSimulated(second).waitFor()
  })
})
