// One hub and several tabs, on a clock and a server that the test plays: who is asked for what, and who is
// told.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { runtimeOf, scriptedDial } from '../../testing/runtime.ts'
import { CONTACTS } from '../roster/watchlist.ts'
import { hubWithTabTokens } from '../tabs/tab-tokens.ts'
import { createHub } from './hub.ts'
import type { FromHub } from './messages.ts'

const person = (user_id: string, version: number): Presence => ({
  user_id,
  status: 'online',
  last_seen: version,
  custom_status: null,
  devices: ['web'],
  version,
})

function createScene() {
  const clock = createFakeClock(1_000_000)
  const server = scriptedDial()
  const runtime = runtimeOf(clock)
  const hub = hubWithTabTokens(runtime, (token) =>
    createHub({ runtime, dialSocket: server.dial, dialHttp: undefined, pulse: clock.every, token }),
  )

  /** A tab that answers for tokens, unless it sleeps. */
  function openTab({
    token = 'token' as string | null,
    ids = [] as string[],
    people = [] as Presence[],
  } = {}) {
    const told: FromHub[] = []
    const seat = hub.addTab((message) => {
      told.push(message)
      if (message.type === 'token' && token !== null) seat.receive({ type: 'token', ref: message.ref, token })
    })
    seat.receive({ type: 'attach', userId: null, ids, people, activeAt: clock.now() })
    const versions = () =>
      told.flatMap((one) =>
        one.type === 'people' ? one.people.map((each) => `${each.user_id} ${each.version}`) : [],
      )
    return { seat, told, versions }
  }

  async function live(): Promise<void> {
    await clock.advance(0)
    server.last().isAgreeing = true
    server.last().welcome()
    await clock.advance(60)
  }

  const sent = (type: string) => server.last().sent.filter((frame) => frame.type === type)
  return { clock, server, hub, openTab, live, sent }
}

describe('a hub', () => {
  test('[X3] whom several tabs watch is asked for once, and given up with the last', async () => {
    const { clock, openTab, live, sent } = createScene()
    const [first, second] = [openTab({ ids: ['bob'] }), openTab({ ids: ['bob', 'carol'] })]
    await live()
    expect(sent('watch')).toMatchObject([{ user_ids: ['bob', 'carol'] }])
    first.seat.leave()
    await clock.advance(100)
    expect(sent('unwatch')).toEqual([])
    second.seat.receive({ type: 'unwatch', ids: ['bob'] })
    await clock.advance(100)
    expect(sent('unwatch')).toMatchObject([{ user_ids: ['bob'] }])
    second.seat.leave()
    await clock.advance(100)
    expect(sent('unwatch')).toMatchObject([{ user_ids: ['bob'] }, { user_ids: ['carol'] }])
  })

  test('[W1] a tab that comes later gets what is known, and every change after it', async () => {
    const { server, openTab, live } = createScene()
    openTab({ ids: ['bob'] })
    await live()
    server.last().say({ type: 'presence_change', changes: [person('bob', 5)] })
    const second = openTab({ ids: ['bob'] })
    expect(second.versions()).toEqual(['bob 5'])
    server.last().say({ type: 'presence_change', changes: [person('bob', 6), person('bob', 4)] })
    expect(second.versions()).toEqual(['bob 5', 'bob 6'])
  })

  test('[W9] a change between stopping and watching again is not missed', async () => {
    const { clock, server, openTab, live, sent } = createScene()
    const tab = openTab({ ids: ['bob'] })
    await live()
    server.last().say({ type: 'presence_change', changes: [person('bob', 5)] })
    // The first wish goes out at once, so these fall into the pause after it.
    tab.seat.receive({ type: 'watch', ids: ['carol'] })
    await clock.advance(0)
    tab.seat.receive({ type: 'unwatch', ids: ['bob'] })
    server.last().say({ type: 'presence_change', changes: [person('bob', 6)] })
    tab.seat.receive({ type: 'watch', ids: ['bob'] })
    await clock.advance(100)
    expect(tab.versions().at(-1)).toBe('bob 6')
    expect(sent('unwatch')).toEqual([])
  })

  test('[W9] what the tabs of another leader knew is not asked for again', async () => {
    const { server, openTab, live, sent } = createScene()
    const first = openTab({ ids: ['bob'], people: [person('bob', 5)] })
    openTab({ ids: ['bob', 'carol'], people: [person('bob', 7), person('carol', 3), person('dave', 1)] })
    await live()
    expect(sent('watch')).toMatchObject([{ known: { bob: 7, carol: 3 } }])
    expect(Object.keys(JSON.parse(JSON.stringify(sent('watch')[0])).known)).toHaveLength(2)
    expect(first.versions()).toContain('bob 7')
    server.last().say({ type: 'presence_change', changes: [person('bob', 6)] })
    expect(first.versions()).not.toContain('bob 6')
  })

  test('[X3] the contact list is asked for once, and told to the tabs that want it', async () => {
    const { clock, server, openTab, live, sent } = createScene()
    const [first, second] = [openTab({ ids: [CONTACTS] }), openTab({ ids: ['dave'] })]
    await live()
    expect(sent('watch_contacts')).toHaveLength(1)
    const lists = ({ told }: typeof first) =>
      told.flatMap((one) =>
        one.type === 'contacts' ? [one.people.map(({ user_id, version }) => `${user_id} ${version}`)] : [],
      )
    server.last().say({ type: 'presence_state', states: [person('bob', 3), person('dave', 4)] })
    expect(lists(first)).toEqual([[], ['bob 3', 'dave 4']])
    second.seat.receive({ type: 'watch', ids: [CONTACTS] })
    expect(lists(second)).toEqual([['bob 3', 'dave 4']])
    first.seat.leave()
    second.seat.receive({ type: 'unwatch', ids: [CONTACTS] })
    await clock.advance(100)
    // Dave is wanted by name as well.
    expect(sent('unwatch')).toMatchObject([{ user_ids: ['bob'] }])
    expect(sent('watch_contacts')).toHaveLength(1)
  })

  test('[C6] a tab that sleeps is passed over when a token is needed', async () => {
    const { clock, server, openTab } = createScene()
    openTab({ token: 'of the first' })
    await clock.advance(0)
    expect(server.last().ticket.token).toBe('of the first')
    server.last().welcome()
    openTab({ token: null })
    server.last().end('silent')
    await clock.advance(9_999)
    expect(server.calls).toHaveLength(1)
    await clock.advance(1)
    expect(server.calls.map(({ ticket }) => ticket.token)).toEqual(['of the first', 'of the first'])
  })

  test('[S1] an answer goes to the tab that asked', async () => {
    const { clock, openTab, live } = createScene()
    const [first, second] = [openTab(), openTab()]
    await live()
    first.seat.receive({ type: 'request', ref: 7, frame: { type: 'set_availability', status: 'busy' } })
    await clock.advance(0)
    expect(first.told).toContainEqual({ type: 'answer', ref: 7, answer: { ok: true } })
    expect(second.told.some(({ type }) => type === 'answer')).toBe(false)
  })

  test('[D2] a goodbye that the server does not answer is one all the same', async () => {
    const { clock, server, openTab, live, sent } = createScene()
    const tab = openTab()
    await live()
    tab.seat.receive({ type: 'leave' })
    expect(sent('leave')).toHaveLength(1)
    await clock.advance(2_000)
    expect(server.last().isClosed).toBe(true)
    expect(tab.told.at(-1)).toMatchObject({ type: 'link', state: 'left' })
    await clock.advance(100_000)
    expect(server.calls).toHaveLength(1)
  })

  test('[D4] idle is said once the away time has passed in all tabs', async () => {
    const { clock, server, openTab, live, sent } = createScene()
    const [first, second] = [openTab(), openTab()]
    await live()
    expect(server.last().ticket.activity).toBe('active')
    await clock.advance(200_000)
    second.seat.receive({ type: 'active', at: clock.now() })
    await clock.advance(299_999)
    expect(sent('heartbeat').every((frame) => 'activity' in frame && frame.activity === 'active')).toBe(true)
    await clock.advance(1)
    expect(sent('heartbeat').at(-1)).toMatchObject({ activity: 'idle' })
    first.seat.receive({ type: 'active', at: clock.now() })
    expect(sent('heartbeat').at(-1)).toMatchObject({ activity: 'active' })
  })
})
