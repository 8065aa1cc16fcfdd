// All processes of a run, each in its place. A place that has no process gets a new one when it is told so, or when a
// process could not start: then after a while, as a supervisor does it.
import type { Ground } from './ground.ts'
import { type ServerProcess, startProcess } from './process.ts'
import type { Role } from './process-config.ts'

const RESTART_MS = 1_000
const ALL: readonly Role[] = ['gateway', 'presence', 'fanout']

export interface Deployment {
  readonly places: number
  at(place: number): ServerProcess | null
  /** Of the processes that serve, those with this role. */
  serving(role?: Role): ServerProcess[]
  start(place: number): void
  crash(place: number): void
  /** Ends it in good order. Nothing follows it until `start`. */
  stop(place: number): Promise<void>
  /** Every process that ever was. */
  all(): readonly ServerProcess[]
  /** Called when a process crashes. */
  onCrash(listener: (process: ServerProcess) => void): void
}

export function createDeployment(ground: Ground): Deployment {
  const { settings, timeline } = ground
  const { gateways, presences, fanouts } = settings
  const roles: (readonly Role[])[] =
    presences === 0
      ? Array.from({ length: gateways }, () => ALL)
      : [
          ...Array.from({ length: gateways }, (): Role[] => ['gateway']),
          ...Array.from({ length: presences }, (): Role[] =>
            fanouts === 0 ? ['presence', 'fanout'] : ['presence'],
          ),
          ...Array.from({ length: fanouts }, (): Role[] => ['fanout']),
        ]
  const present: (ServerProcess | null)[] = roles.map(() => null)
  const all: ServerProcess[] = []
  const listeners: ((process: ServerProcess) => void)[] = []
  let started = 0
  const stopping = new Set<number>()

  function start(place: number): void {
    // Also while a process is still there, which was asked to end before it had started: should it end, another one follows.
    stopping.delete(place)
    if (present[place] !== null) return
    const label = roles[place]!.length === ALL.length ? 'server' : roles[place]![0]
    const process = startProcess(ground, {
      name: `${label}-${place}.${++started}`,
      roles: roles[place]!,
      // A server alone starts again on the same machine.
      skewMs: settings.deployment === 'embedded' ? all.at(-1)?.machine.skewMs() : undefined,
      onEnded(ended) {
        for (const listener of listeners) listener(ended)
        if (present[place] !== ended) return
        present[place] = null
        if (!stopping.has(place)) timeline.at(timeline.now() + RESTART_MS, () => start(place))
      },
    })
    present[place] = process
    all.push(process)
  }

  return {
    places: roles.length,
    at: (place) => present[place] ?? null,
    serving: (role) =>
      present.filter(
        (process): process is ServerProcess =>
          process?.isServing() === true && (role === undefined || process.roles.includes(role)),
      ),
    start,
    crash(place) {
      const process = present[place]
      if (process == null) return
      present[place] = null
      process.machine.crash()
      for (const listener of listeners) listener(process)
    },
    async stop(place) {
      stopping.add(place)
      await present[place]?.stop()
    },
    all: () => all,
    onCrash: (listener) => void listeners.push(listener),
  }
}
