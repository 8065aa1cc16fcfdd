import { describe, expect, test } from 'bun:test'
import { decodeLatencies } from '../figures/histogram.ts'
import { now } from '../platform/clock.ts'
import type { ConnectionOptions, Wire } from '../wires/wire.ts'
import { createLoadUsers } from './load-users.ts'
import type { Job } from './orders.ts'

/** A wire on which nothing happens by itself. */
function quietWire() {
  const connections = new Map<number, ConnectionOptions>()
  const changes: string[] = []
  const wire: Wire = {
    open(_, options) {
      connections.set(options.user, options)
      return {
        change: (serial) => void changes.push(`${options.user}:${serial}`),
        beat: () => {},
        mark: () => {},
        pauseReading: () => {},
        close: () => {},
      }
    },
  }
  return { wire, changes, events: (user: number) => connections.get(user)!.events }
}

const job: Job = {
  target: { wire: 'quiet', host: '', port: 0, secret: 's', claims: {}, extra: {} },
  graph: { kind: 'ring', users: 3, contacts: 2, seed: 0 },
  schedule: { users: 3, changers: 3, order: 'sequential', seed: 0 },
  index: 0,
  of: 1,
  firstAddress: 0,
  exactEvery: 1,
}

function connectedUsers() {
  const quiet = quietWire()
  const loadUsers = createLoadUsers(job, quiet.wire)
  for (const user of loadUsers.users) {
    loadUsers.open(
      user,
      () => {},
      () => {},
    )
    quiet.events(user).onReady()
  }
  loadUsers.mark()
  return { ...quiet, loadUsers }
}

describe('the users of a load process', () => {
  test('[C9] the latency of a replaced change ends when the newer one is received', () => {
    const { loadUsers, events } = connectedUsers()
    loadUsers.schedule.add({ startAt: now() - 1000, perSecond: 6, changes: 6 })
    events(0).onDelivery(1, 2)
    const { phases, due } = loadUsers.inspect()
    const latencies = decodeLatencies(phases[0]!)
    expect(latencies.count()).toBe(2)
    expect(loadUsers.counts).toMatchObject({ exactUpdates: 1, superseded: 1 })
    // Change 1 of user 1 was due 500 ms before change 2.
    expect(latencies.max() - latencies.at(0)).toBeCloseTo(500, -1)
    expect(due).toBe(3 * 2 * 2)
  })

  test('[C9] a watcher without the newest change is behind; an older change after a newer one is counted', () => {
    const { loadUsers, events } = connectedUsers()
    loadUsers.schedule.add({ startAt: now(), perSecond: 3, changes: 3 })
    expect(loadUsers.inspect()).toMatchObject({ pairs: 6, behind: 6 })
    for (const user of [0, 1, 2])
      for (const contact of [0, 1, 2]) if (contact !== user) events(user).onDelivery(contact, 1)
    expect(loadUsers.inspect().behind).toBe(0)
    events(0).onDelivery(1, 0)
    events(0).onDelivery(2, 2)
    expect(loadUsers.counts).toMatchObject({ backwards: 1, unmade: 1 })
  })

  test('[C9] a contact shown as offline is counted only after the mark', () => {
    const quiet = quietWire()
    const loadUsers = createLoadUsers(job, quiet.wire)
    loadUsers.open(
      0,
      () => {},
      () => {},
    )
    quiet.events(0).onGone(1)
    expect(loadUsers.counts.gone).toBe(0)
    loadUsers.mark()
    quiet.events(0).onGone(1)
    expect(loadUsers.counts.gone).toBe(1)
  })

  test('[C9] nothing is sent on a connection that is not ready, and a lost connection is reported', () => {
    const { loadUsers, events, changes } = connectedUsers()
    loadUsers.schedule.add({ startAt: now(), perSecond: 100, changes: 3 })
    const lost: number[] = []
    loadUsers.onLost((user) => lost.push(user))
    events(1).onClose()
    for (const change of [0, 1, 2]) loadUsers.make(change)
    expect(changes).toEqual(['0:1', '2:1'])
    expect(lost).toEqual([1])
    expect(loadUsers.counts).toMatchObject({ ready: 2, closed: 1, changesMade: 2 })
  })
})
