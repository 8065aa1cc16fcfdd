// A load-generator process: does what the benchmark orders, for the users it was given.
import { now } from '../platform/clock.ts'
import { bareWire } from '../wires/bare-wire.ts'
import { greendotWire } from '../wires/greendot-wire.ts'
import type { Wire } from '../wires/wire.ts'
import { arrive, keepComingBack, keepCommuting } from './arrivals.ts'
import { type Crowd, createCrowd } from './load-users.ts'
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
  let crowd: Crowd | null = null
  let stopBeating: (() => void) | null = null
  let stopCommuting: (() => void) | null = null

  async function prepare(job: Job): Promise<void> {
    crowd = createCrowd(job, await wireNamed(job.target.wire))
    keepChanging(crowd)
  }

  function handle(order: Order): unknown {
    if (order.do === 'prepare') return prepare(order.job)
    if (crowd === null) throw new Error('the first order is to prepare')
    switch (order.do) {
      case 'clock':
        return now()
      case 'connect':
        return arrive(crowd, order.arrivals, order.limitMs)
      case 'mark':
        return crowd.mark()
      case 'beat':
        stopBeating?.()
        stopBeating = keepBeating(crowd, order.everyMs)
        return
      case 'phase':
        return crowd.schedule.add(order.phase)
      case 'return':
        return keepComingBack(crowd)
      case 'commute':
        stopCommuting?.()
        stopCommuting = keepCommuting(crowd, order.perSecond)
        return
      case 'deafen':
        for (const user of crowd.users) if (user !== order.but) crowd.lineOf(user)?.deafen()
        return
      case 'record':
        return crowd.record(order.frames)
      case 'recorded':
        return crowd.recorded()
      case 'report':
        return crowd.report()
      case 'inspect':
        return crowd.inspect()
      case 'close':
        return crowd.close()
    }
  }
  return handle
}
