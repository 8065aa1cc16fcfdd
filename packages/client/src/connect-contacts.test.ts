// The contact list that a backend keeps, as the client shows it, against a real server: through edits,
// interruptions, people who are watched by name as well, and the end of watching.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { connect as connectBare, type TestClient } from '../../../testing/client.ts'
import { startServer, type TestServer } from '../../../testing/server.ts'
import { until } from '../../../testing/services/within.ts'
import { keepDiary, recordingSockets } from '../testing/until.ts'
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
  return { dot, sockets, diary: keepDiary(dot) }
}

async function arrive(...names: string[]): Promise<void> {
  for (const name of names) others.push(await connectBare(server.url, name, { deviceId: name }))
}

const shortly = (people: readonly Person[]) => people.map(({ user_id, status }) => `${user_id} ${status}`)

/** Everything a listener was told, and a way to wait for what it is to be told last. */
function followed(dot: Dot) {
  const lists: string[][] = []
  let look = () => {}
  const stop = dot.watchContacts((people) => {
    lists.push(shortly(people))
    look()
  })
  const until = (...wanted: string[]) =>
    new Promise<void>((resolve) => {
      look = () => Bun.deepEquals(lists.at(-1), wanted) && resolve()
      look()
    })
  return { lists, stop, until }
}

describe('watching the contact list', () => {
  test('[W1] tells all of it at once, then again whenever one of them changes', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot } = open()
    const { lists, until } = followed(dot)
    await until('bob online')
    await arrive('carol')
    await until('bob online', 'carol online')
    others[0]!.send({ type: 'set_availability', status: 'busy' })
    await until('bob busy', 'carol online')
    expect(lists).toEqual([['bob online'], ['bob online', 'carol online'], ['bob busy', 'carol online']])
    expect(dot.get('bob')).toMatchObject({ status: 'busy', stale: false })
  })

  test('[W1] an empty list is told too, and edits of it are followed', async () => {
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

  test('[X3] however many follow it, the server hears of it once', async () => {
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

  test('[W9] after an interruption it is the list as it is then', async () => {
    await arrive('bob', 'carol', 'dave')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot, sockets } = open()
    const { lists, until } = followed(dot)
    await until('bob online', 'carol online')
    sockets.opened[0]!.close()
    await backend.contacts.replace('alice', ['carol', 'dave'])
    await until('carol online', 'dave online')
    expect(dot.get('bob')).toBeUndefined()
    // Nobody was shown as anything else meanwhile.
    expect(lists.flat().filter((one) => !one.endsWith(' online'))).toEqual([])
  })

  test('[W1] whoever is watched by name as well is told to both, and stays with either', async () => {
    await arrive('bob', 'carol')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot, diary } = open()
    const named: (string | null)[] = []
    const stopNamed = dot.watch('bob', ({ status }) => named.push(status))
    const list = followed(dot)
    await list.until('bob online', 'carol online')
    stopNamed()
    others[0]!.send({ type: 'set_availability', status: 'busy' })
    await list.until('bob busy', 'carol online')
    dot.watch('bob', ({ status }) => named.push(status))
    list.stop()
    others[0]!.send({ type: 'set_availability', status: 'away' })
    await diary.until('bob away', () => dot.get('bob')?.status === 'away')
    expect(named).toEqual(['online', 'busy', 'away'])
    expect(dot.get('carol')).toBeUndefined()
    const again = followed(dot)
    await again.until('bob away', 'carol online')
  })

  test('[W1] once nobody follows it, the room is free for others, also after an edit', async () => {
    await arrive('bob', 'carol', 'dave', 'erin')
    await backend.contacts.replace('alice', ['bob', 'carol'])
    const { dot, diary, sockets } = open()
    const list = followed(dot)
    await list.until('bob online', 'carol online')
    list.stop()
    dot.watch('zoe')
    await diary.until('zoe', () => dot.get('zoe') !== undefined)
    expect(sockets.sentOf('unwatch').map(({ user_ids }) => user_ids)).toEqual([['bob', 'carol']])
    await backend.contacts.add('alice', ['dave'])
    // The server tells of all of them once more, and they are given up once more.
    const givenUp = () => sockets.sentOf('unwatch').flatMap(({ user_ids }) => user_ids)
    await until(5_000, 'giving up dave', async () => givenUp().includes('dave'))
    const names = ['erin', 'frank', 'gina']
    dot.watch(names)
    await diary.until('all', () => names.every((name) => dot.get(name)))
    expect([dot.get('bob'), dot.get('dave')]).toEqual([undefined, undefined])
  })

  test('[W1] whoever stops before it was answered, and comes again, misses nothing', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot, diary } = open()
    await diary.until('live', () => dot.state === 'live')
    const first = followed(dot)
    await Promise.resolve()
    first.stop()
    const second = followed(dot)
    await second.until('bob online')
    expect(first.lists).toEqual([])
  })

  test('[S5] somebody who hides is left out, and comes back', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot } = open()
    const { until } = followed(dot)
    await until('bob online')
    await backend.settings.change('bob', { status_visibility: 'nobody', last_seen_visibility: 'nobody' })
    await until()
    await backend.settings.change('bob', { status_visibility: 'everyone' })
    await until('bob online')
  })

  test('[W1] a list that does not fit is refused, and told once there is room', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob', 'carol', 'dave'])
    const { dot, diary } = open()
    const stop = dot.watch(['erin', 'frank'])
    await diary.until('erin', () => dot.get('erin') !== undefined)
    const { lists, until } = followed(dot)
    await diary.until('a refusal', () => diary.failures.length > 0)
    expect([diary.failures[0]!.code, lists]).toEqual(['watch_limit', []])
    stop()
    await until('bob online')
  })

  test('[X3] without WebSockets it says that it cannot, once, and the rest works', async () => {
    await arrive('bob')
    await backend.contacts.replace('alice', ['bob'])
    const { dot, diary } = open({ transport: 'http' })
    const { lists } = followed(dot)
    await diary.until('a refusal', () => diary.failures.length > 0)
    dot.watch('bob')
    await diary.until('bob', () => dot.get('bob')?.status === 'online')
    expect(diary.failures).toEqual([
      { code: 'unknown_type', message: 'no watch_contacts without WebSockets' },
    ])
    expect(lists).toEqual([])
  })
})
