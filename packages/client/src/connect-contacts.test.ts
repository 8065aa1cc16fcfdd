// watchContacts against a real server: edits, reconnects, contacts that are also watched by id, and the end of
// watching.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { connect as connectBare, type TestClient } from '../../../testing/clients/client.ts'
import { startServer, type TestServer } from '../../../testing/clients/server.ts'
import { until, WAIT_MS } from '../../../testing/services/within.ts'
import { createEventLog, recordingSockets } from '../testing/recording.ts'
import { connect } from './index.ts'
import { type Backend, greendot } from './server.ts'
import type { ConnectOptions, Dot, Person } from './types.ts'

let server: TestServer
let backend: Backend
const dots: Dot[] = []
const others: TestClient[] = []

beforeEach(async () => {
  server = await startServer({ watch_limit: 4 })
  backend = greendot({ url: server.url, serverKey: 'dev' })
})
afterEach(async () => {
  for (const dot of dots.splice(0)) dot.close()
  for (const other of others.splice(0)) other.close()
  await server.stop()
})

function open(options: Partial<ConnectOptions> = {}) {
  const sockets = recordingSockets()
  const dot = connect({
    url: server.url,
    token: 'dev:alice',
    deviceId: 'laptop',
    WebSocket: sockets.WebSocket,
    ...options,
  })
  dots.push(dot)
  return { dot, sockets, log: createEventLog(dot) }
}

async function arrive(...names: string[]): Promise<void> {
  for (const name of names) others.push(await connectBare(server.url, name, { deviceId: name }))
}

const shortly = (people: readonly Person[]) => people.map(({ user_id, status }) => `${user_id} ${status}`)

/** All lists that a listener got, and a way to wait for the expected last one. */
function followed(dot: Dot) {
  const lists: string[][] = []
  let check = () => {}
  const stop = dot.watchContacts((people) => {
    lists.push(shortly(people))
    check()
  })
  const until = (...wanted: string[]) =>
    new Promise<void>((resolve) => {
      check = () => Bun.deepEquals(lists.at(-1), wanted) && resolve()
      check()
    })
  return { lists, stop, until }
}

describe('watchContacts', () => {
  test('[W1] reports the whole list, who never came included, and again whenever a contact changes', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot } = open()
    const { lists, until } = followed(dot)
    await until('bob online', 'carol offline')
    expect(dot.get('carol')).toMatchObject({ status: 'offline', last_seen: null, version: 0 })
    await arrive('carol')
    await until('bob online', 'carol online')
    others[0]!.send({ type: 'set_availability', status: 'busy' })
    await until('bob busy', 'carol online')
    expect(lists).toEqual([
      ['bob online', 'carol offline'],
      ['bob online', 'carol online'],
      ['bob busy', 'carol online'],
    ])
    expect(dot.get('bob')).toMatchObject({ status: 'busy', stale: false })
  })

  test('[W1] reports an empty list, and follows its edits', async () => {
    await arrive('bob', 'carol')
    const { dot } = open()
    const { lists, until } = followed(dot)
    await until()
    await backend.contacts.add('alice', ['bob', 'carol'])
    await until('bob online', 'carol online')
    await backend.contacts.remove('alice', ['bob'])
    await until('carol online')
    expect(lists[0]).toEqual([])
    await backend.contacts.replace('alice', ['bob'])
    await until('bob online')
  })

  test('[W1] a contact who never came is listed when added, and is gone when removed', async () => {
    const { dot } = open()
    const { lists, until } = followed(dot)
    await until()
    await backend.contacts.add('alice', ['bob', 'carol'])
    await until('bob offline', 'carol offline')
    await backend.contacts.remove('alice', ['bob'])
    await until('carol offline')
    expect([dot.get('bob'), dot.get('carol')?.version]).toEqual([undefined, 0])
    expect(lists).toEqual([[], ['bob offline', 'carol offline'], ['carol offline']])
  })

  test('[W1] a removed contact leaves the list also while it is watched by id', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot, log } = open()
    dot.watch('bob')
    const { until } = followed(dot)
    await until('bob online', 'carol offline')
    await backend.contacts.remove('alice', ['bob'])
    await until('carol offline')
    others[0]!.send({ type: 'set_availability', status: 'busy' })
    await log.until('bob busy', () => dot.get('bob')?.status === 'busy')
  })

  test('[X3] any number of listeners is one watch on the server', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot, sockets } = open()
    const [first, second] = [followed(dot), followed(dot)]
    await first.until('bob online')
    const third = followed(dot)
    await third.until('bob online')
    first.stop()
    second.stop()
    others[0]!.send({ type: 'set_availability', status: 'busy' })
    await third.until('bob busy')
    expect([first.lists.at(-1), second.lists.at(-1)]).toEqual([['bob online'], ['bob online']])
    expect(sockets.sent.map(({ type }) => type)).toEqual(['watch_contacts'])
  })

  test('[W9] reports the current list after a reconnect', async () => {
    await arrive('bob', 'carol', 'dave')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const edited = Promise.withResolvers<void>()
    // The second connection waits for the edit, which must not reach the client while it is connected.
    const tokens = [null, edited.promise]
    const { dot, sockets } = open({
      async token() {
        await tokens.shift()
        return 'dev:alice'
      },
    })
    const { lists, until } = followed(dot)
    await until('bob online', 'carol online')
    const [socket] = sockets.opened
    const closed = new Promise((resolve) => socket!.addEventListener('close', resolve))
    socket!.close()
    await closed
    await backend.contacts.replace('alice', ['carol', 'dave'])
    edited.resolve()
    await until('carol online', 'dave online')
    expect(dot.get('bob')).toBeUndefined()
    // No contact was shown with another status meanwhile.
    expect(lists.flat().filter((one) => !one.endsWith(' online'))).toEqual([])
  })

  test('[W1] a contact that is also watched by id is reported to both, and stays while either watches', async () => {
    await arrive('bob', 'carol')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot, log } = open()
    const statuses: (string | null)[] = []
    const stopById = dot.watch('bob', ({ status }) => statuses.push(status))
    const list = followed(dot)
    await list.until('bob online', 'carol online')
    stopById()
    others[0]!.send({ type: 'set_availability', status: 'busy' })
    await list.until('bob busy', 'carol online')
    dot.watch('bob', ({ status }) => statuses.push(status))
    list.stop()
    others[0]!.send({ type: 'set_availability', status: 'away' })
    await log.until('bob away', () => dot.get('bob')?.status === 'away')
    expect(statuses).toEqual(['online', 'busy', 'away'])
    expect(dot.get('carol')).toBeUndefined()
    const again = followed(dot)
    await again.until('bob away', 'carol online')
  })

  test('[W1] without listeners the list takes no room in the watch limit, even after an edit', async () => {
    await arrive('bob', 'carol', 'dave', 'erin')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot, log, sockets } = open()
    const list = followed(dot)
    await list.until('bob online', 'carol online')
    list.stop()
    dot.watch('zoe')
    await log.until('zoe', () => dot.get('zoe') !== undefined)
    expect(sockets.sentOf('unwatch').map(({ user_ids }) => user_ids)).toEqual([['bob', 'carol']])
    await backend.contacts.add('alice', ['dave'])
    // The server sends the whole list again, and the client unwatches it again.
    const unwatched = () => sockets.sentOf('unwatch').flatMap(({ user_ids }) => user_ids)
    await until(WAIT_MS, 'unwatching dave', async () => unwatched().includes('dave'))
    const names = ['erin', 'frank', 'gina']
    dot.watch(names)
    await log.until('all', () => names.every((name) => dot.get(name)))
    expect([dot.get('bob'), dot.get('dave')]).toEqual([undefined, undefined])
  })

  test('[W1] stopping before the answer and watching again misses nothing', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot, log } = open()
    await log.until('live', () => dot.state === 'live')
    const first = followed(dot)
    await Promise.resolve()
    first.stop()
    const second = followed(dot)
    await second.until('bob online')
    expect(first.lists).toEqual([])
  })

  test('[S5] a hidden contact stays on the list, and looks as if it had never come', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot } = open()
    const { until } = followed(dot)
    await until('bob online')
    await backend.settings.change('bob', { status_visibility: 'nobody', last_seen_visibility: 'nobody' })
    await until('bob offline')
    expect(dot.get('bob')).toMatchObject({ last_seen: null, devices: [], version: 0 })
    await backend.settings.change('bob', { status_visibility: 'everyone' })
    await until('bob online')
  })

  test('[W1] a list over the watch limit is refused, and reported once there is room', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob', 'carol', 'dave'])
    const { dot, log } = open()
    const stop = dot.watch(['erin', 'frank'])
    await log.until('erin', () => dot.get('erin') !== undefined)
    const { lists, until } = followed(dot)
    await log.until('a refusal', () => log.failures.length > 0)
    expect([log.failures[0]!.code, lists]).toEqual(['watch_limit', []])
    stop()
    await until('bob online', 'carol offline', 'dave offline')
  })

  test('[X3] over HTTP there is one error, and watching by id works', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot, log } = open({ transport: 'http' })
    const { lists } = followed(dot)
    await log.until('a refusal', () => log.failures.length > 0)
    dot.watch('bob')
    await log.until('bob', () => dot.get('bob')?.status === 'online')
    expect(log.failures).toEqual([{ code: 'unknown_type', message: 'no watch_contacts without WebSockets' }])
    expect(lists).toEqual([])
  })
})
