// One hub and several tabs, on a fake clock, with the test as the server.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
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

function createWorld() {
  const clock = createFakeClock(1_000_000)
  const server = scriptedDial()
  const runtime = runtimeOf(clock)
  const hub = hubWithTabTokens(runtime, (token) =>
    createHub({ runtime, dialSocket: server.dial, dialHttp: undefined, pulse: clock.every, token }),
  )

  /** A tab that answers requests for tokens, unless `token` is null. */
  function openTab({
    token = 'token' as string | null,
    ids = [] as string[],
    people = [] as Presence[],
  } = {}) {
    const received: FromHub[] = []
    const port = hub.addTab((message) => {
      received.push(message)
      if (message.type === 'token' && token !== null) port.receive({ type: 'token', ref: message.ref, token })
    })
    port.receive({ type: 'attach', userId: null, ids, people, activeAt: clock.now() })
    const versions = () =>
      received.flatMap((one) =>
        one.type === 'people' ? one.people.map((each) => `${each.user_id} ${each.version}`) : [],
      )
    return { port, received, versions }
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
  test('[X3] a target that several tabs watch is watched once, until the last tab stops', async () => {
    const { clock, openTab, live, sent } = createWorld()
    const [first, second] = [openTab({ ids: ['bob'] }), openTab({ ids: ['bob', 'carol'] })]
    await live()
    expect(sent('watch')).toMatchObject([{ user_ids: ['bob', 'carol'] }])
    first.port.leave()
    await clock.advance(100)
    expect(sent('unwatch')).toEqual([])
    second.port.receive({ type: 'unwatch', ids: ['bob'] })
    await clock.advance(100)
    expect(sent('unwatch')).toMatchObject([{ user_ids: ['bob'] }])
    second.port.leave()
    await clock.advance(100)
    expect(sent('unwatch')).toMatchObject([{ user_ids: ['bob'] }, { user_ids: ['carol'] }])
  })

  test('[W1] a later tab gets the known presence, and every change after it', async () => {
    const { server, openTab, live } = createWorld()
    openTab({ ids: ['bob'] })
    await live()
    server.last().say({ type: 'presence_change', changes: [person('bob', 5)] })
    const second = openTab({ ids: ['bob'] })
    expect(second.versions()).toEqual(['bob 5'])
    server.last().say({ type: 'presence_change', changes: [person('bob', 6), person('bob', 4)] })
    expect(second.versions()).toEqual(['bob 5', 'bob 6'])
  })

  test('[W9] a change between unwatch and watch is not missed', async () => {
    const { clock, server, openTab, live, sent } = createWorld()
    const tab = openTab({ ids: ['bob'] })
    await live()
    server.last().say({ type: 'presence_change', changes: [person('bob', 5)] })
    // The first watch is sent at once, so these are collected for the next flush.
    tab.port.receive({ type: 'watch', ids: ['carol'] })
    await clock.advance(0)
    tab.port.receive({ type: 'unwatch', ids: ['bob'] })
    server.last().say({ type: 'presence_change', changes: [person('bob', 6)] })
    tab.port.receive({ type: 'watch', ids: ['bob'] })
    await clock.advance(100)
    expect(tab.versions().at(-1)).toBe('bob 6')
    expect(sent('unwatch')).toEqual([])
  })

  test('[W9] a new leader asks with the versions that the tabs know', async () => {
    const { server, openTab, live, sent } = createWorld()
    const first = openTab({ ids: ['bob'], people: [person('bob', 5)] })
    openTab({ ids: ['bob', 'carol'], people: [person('bob', 7), person('carol', 3), person('dave', 1)] })
    await live()
    expect(sent('watch')).toMatchObject([{ known: { bob: 7, carol: 3 } }])
    expect(Object.keys(JSON.parse(JSON.stringify(sent('watch')[0])).known)).toHaveLength(2)
    expect(first.versions()).toContain('bob 7')
    server.last().say({ type: 'presence_change', changes: [person('bob', 6)] })
    expect(first.versions()).not.toContain('bob 6')
  })

  test('[X3] the contact list is requested once, and sent to the tabs that watch it', async () => {
    const { clock, server, openTab, live, sent } = createWorld()
    const [first, second] = [openTab({ ids: [CONTACTS] }), openTab({ ids: ['dave'] })]
    await live()
    expect(sent('watch_contacts')).toHaveLength(1)
    const lists = ({ received }: typeof first) =>
      received.flatMap((one) =>
        one.type === 'contacts' ? [one.people.map(({ user_id, version }) => `${user_id} ${version}`)] : [],
      )
    server.last().say({ type: 'presence_state', states: [person('bob', 3), person('dave', 4)] })
    expect(lists(first)).toEqual([[], ['bob 3', 'dave 4']])
    second.port.receive({ type: 'watch', ids: [CONTACTS] })
    expect(lists(second)).toEqual([['bob 3', 'dave 4']])
    first.port.leave()
    second.port.receive({ type: 'unwatch', ids: [CONTACTS] })
    await clock.advance(100)
    // Dave is also watched by id.
    expect(sent('unwatch')).toMatchObject([{ user_ids: ['bob'] }])
    expect(sent('watch_contacts')).toHaveLength(1)
  })

  test('[C6] if a tab does not answer a token request, the next one is asked', async () => {
    const { clock, server, openTab } = createWorld()
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

  test('[S1] an answer goes to the tab that made the request', async () => {
    const { clock, openTab, live } = createWorld()
    const [first, second] = [openTab(), openTab()]
    await live()
    first.port.receive({ type: 'request', ref: 7, frame: { type: 'set_availability', status: 'busy' } })
    await clock.advance(0)
    expect(first.received).toContainEqual({ type: 'answer', ref: 7, answer: { ok: true } })
    expect(second.received.some(({ type }) => type === 'answer')).toBe(false)
  })

  test('[D2] a leave without an answer counts as left after 2 s', async () => {
    const { clock, server, openTab, live, sent } = createWorld()
    const tab = openTab()
    await live()
    tab.port.receive({ type: 'leave' })
    expect(sent('leave')).toHaveLength(1)
    await clock.advance(2_000)
    expect(server.last().isClosed).toBe(true)
    expect(tab.received.at(-1)).toMatchObject({ type: 'link', state: 'left' })
    await clock.advance(100_000)
    expect(server.calls).toHaveLength(1)
  })

  test('[D4] idle is reported once the away time has passed in all tabs', async () => {
    const { clock, server, openTab, live, sent } = createWorld()
    const [first, second] = [openTab(), openTab()]
    await live()
    expect(server.last().ticket.activity).toBe('active')
    await clock.advance(200_000)
    second.port.receive({ type: 'active', at: clock.now() })
    await clock.advance(299_999)
    expect(sent('heartbeat').every((frame) => 'activity' in frame && frame.activity === 'active')).toBe(true)
    await clock.advance(1)
    expect(sent('heartbeat').at(-1)).toMatchObject({ activity: 'idle' })
    first.port.receive({ type: 'active', at: clock.now() })
    expect(sent('heartbeat').at(-1)).toMatchObject({ activity: 'active' })
  })
})
