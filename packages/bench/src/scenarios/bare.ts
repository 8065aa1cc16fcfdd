// The bare server as a subject: as many connections as the server under test had, and no work at all.

import { type Fleet, startFleet } from '../load/fleet.ts'
import { startWorker } from '../platform/child.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { BareOrder, BareReport } from '../subject/bare-server.ts'
import { type Bench, fleetSpec } from './scenario.ts'

export interface Bare {
  fleet: Fleet
  order(order: BareOrder, ms: number): Promise<BareReport>
}

export async function startBare(bench: Bench): Promise<Bare> {
  const { options, scope, progress } = bench
  const child = startWorker('bare', options.serverCore)
  scope.add(child.stop)
  const port = await child.ask<number>({ do: 'listen' } satisfies BareOrder)
  progress.show(`connecting ${options.users} users to the bare loop`)
  const fleet = await startFleet(
    {
      title: 'a bare loop of send',
      target: { wire: 'bare', host: '127.0.0.1', port, secret: 'none', claims: {}, extra: {} },
      pids: () => [child.pid],
      metric: async () => null,
      backend: null,
      restart: null,
      stop: child.stop,
    },
    fleetSpec(options),
    scope,
  )
  const arrivals = { how: 'parallel', parallel: 100, from: 0, to: options.users } as const
  const { failed } = await fleet.connect(arrivals, 120_000)
  if (failed > 0) throw new BenchProblem(`${failed} connections to the bare loop failed`)
  return { fleet, order: (order, ms) => child.ask<BareReport>(order, ms + 10_000) }
}
