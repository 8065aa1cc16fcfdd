// A load-generator process: carries out the orders of the benchmark for its share of the users.
import { now } from '../platform/clock.ts'
import { bareWire } from '../wires/bare-wire.ts'
import { greendotWire } from '../wires/greendot-wire.ts'
import type { Wire } from '../wires/wire.ts'
import { arrive, keepCycling, keepReconnecting } from './arrivals.ts'
import { createLoadUsers, type LoadUsers } from './load-users.ts'
import type { Job, Order } from './orders.ts'
import { keepBeating, keepChanging } from './pace.ts'
import type { Handle } from './worker.ts'

async function wireNamed(name: string): Promise<Wire> {
  if (name === 'greendot') return greendotWire
  if (name === 'bare') return bareWire
  const { peerWires } = await import('../peers/wires.ts')
  const wire = peerWires[name]
  if (wire === undefined) throw new Error(`there is no wire called "${name}"`)
  return wire
}

export function createLoad(): Handle {
  let loadUsers: LoadUsers | null = null
  let stopBeating: (() => void) | null = null
  let stopCommuting: (() => void) | null = null

  async function prepare(job: Job): Promise<void> {
    loadUsers = createLoadUsers(job, await wireNamed(job.target.wire))
    keepChanging(loadUsers)
  }

  function handle(order: Order): unknown {
    if (order.do === 'prepare') return prepare(order.job)
    if (loadUsers === null) throw new Error('the first order is to prepare')
    switch (order.do) {
      case 'clock':
        return now()
      case 'connect':
        return arrive(loadUsers, order.arrivals, order.limitMs)
      case 'mark':
        return loadUsers.mark()
      case 'beat':
        stopBeating?.()
        stopBeating = keepBeating(loadUsers, order.everyMs)
        return
      case 'phase':
        return loadUsers.schedule.add(order.phase)
      case 'return':
        return keepReconnecting(loadUsers)
      case 'cycle':
        stopCommuting?.()
        stopCommuting = keepCycling(loadUsers, order.perSecond)
        return
      case 'pauseReading':
        for (const user of loadUsers.users)
          if (user !== order.but) loadUsers.connectionOf(user)?.pauseReading()
        return
      case 'record':
        return loadUsers.record(order.frames)
      case 'recorded':
        return loadUsers.recorded()
      case 'report':
        return loadUsers.report()
      case 'inspect':
        return loadUsers.inspect()
      case 'close':
        return loadUsers.close()
    }
  }
  return handle
}
