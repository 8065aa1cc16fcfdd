// Every peer that is installed, started as the benchmark starts it: twenty users on a ring, a few changes
// each, and every watcher receives all of them.
import { describe, expect, test } from 'bun:test'
import { clearAfterEach } from '../../../../testing/clients/clearing.ts'
import { type RecordedConnection, recordedConnection } from '../../testing/recorded-connection.ts'
import { makeGraph } from '../load/graphs.ts'
import { now, within } from '../platform/clock.ts'
import { createScope } from '../platform/scope.ts'
import type { Subject } from '../subject/subject.ts'
import { mintToken } from '../wires/tokens.ts'
import type { Target, Wire } from '../wires/wire.ts'
import { peers } from './index.ts'
import { isRunning } from './process-tree.ts'
import { peerWires } from './wires.ts'

const USERS = 20
const CONTACTS = 4
const CHANGES = 3
const TEST_MS_MAX = 60_000
const WAIT_MS_MAX = 10_000
const SECRET = 'a secret that is only used by this test'

const graph = makeGraph({ kind: 'ring', users: USERS, contacts: CONTACTS, seed: 1 })
const contacts = Array.from({ length: USERS }, (_, user) => Array.from(graph.contactsOf(user)))

const onEnd = clearAfterEach()

function targetOf(subject: Subject, secret = SECRET): Target {
  const { target } = subject
  const token = (user: number) => mintToken({ ...target, secret }, user, now())
  return { ...target, nextAddress: () => '127.0.0.1', token }
}

/** Opens a connection; `until` resolves once `isEnough`, which is asked after each event, says so. */
function open(wire: Wire, target: Target, user: number) {
  const waiting: { isEnough: () => boolean; resolve: () => void }[] = []
  const record: RecordedConnection = recordedConnection(user, contacts[user]!, true, () => {
    for (const { isEnough, resolve } of waiting) if (isEnough()) resolve()
  })
  const connection = wire.open(target, record)
  onEnd(() => connection.close())
  const until = (what: string, isEnough: () => boolean) => {
    const enough = new Promise<void>((resolve) => {
      waiting.push({ isEnough, resolve })
      if (isEnough()) resolve()
    })
    return within(WAIT_MS_MAX, `user ${user}: ${what}`, enough)
  }
  return { connection, record, until }
}

const starting = (what: string, happened: readonly string[]) => happened.filter((one) => one.startsWith(what))

for (const peer of peers) {
  const reason = peer.findReason()
  const title = `[X7] ${peer.title}${reason === null ? '' : ` (${reason})`}`
  describe.skipIf(reason !== null)(title, () => {
    test(
      '[X7] pushes every change to every watcher, refuses connections without a token, and leaves nothing running',
      async () => {
        expect(peer.version()).toMatch(/\d+\.\d+/)
        const scope = createScope()
        onEnd(scope.close)
        const server = await peer.start({ contacts, core: 0, secret: SECRET }, scope)
        const wire = peerWires[peer.name]!
        const target = targetOf(server)

        const users = contacts.map((_, user) => open(wire, target, user))
        await Promise.all(
          users.map(({ record, until }) => until('arriving', () => record.happened.includes('ready'))),
        )

        for (let serial = 1; serial <= CHANGES; serial++)
          for (const { connection } of users) connection.change(serial)
        const wanted = CONTACTS * CHANGES
        await Promise.all(
          users.map(({ record, until }) =>
            until('hearing of all changes', () => starting('delivery', record.happened).length >= wanted),
          ),
        )
        for (const { connection } of users) connection.beat()

        const stranger = open(wire, targetOf(server, 'another secret'), 0)
        await stranger.until('being refused', () => starting('error', stranger.record.happened).length > 0)
        expect(stranger.record.happened).not.toContain('ready')

        for (const [user, { record }] of users.entries()) {
          const received = starting('delivery', record.happened).sort()
          const changes = contacts[user]!.flatMap((contact) =>
            Array.from({ length: CHANGES }, (_, change) => `delivery ${contact} ${change + 1}`),
          )
          expect(received).toEqual(changes.sort())
          expect(starting('error', record.happened)).toEqual([])
          expect(record.happened).not.toContain('close')
        }

        const pids = server.pids()
        expect(pids.every(isRunning)).toBe(true)
        for (const { connection } of users) connection.close()
        await scope.close()
        expect(pids.filter(isRunning)).toEqual([])
      },
      TEST_MS_MAX,
    )
  })
}

test('[X7] Socket.IO is always measured: what it needs comes with npm install', () => {
  expect(peers.find(({ name }) => name === 'socketio')?.findReason()).toBeNull()
})
