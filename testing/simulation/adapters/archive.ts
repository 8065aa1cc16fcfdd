// The simulated database: one SQLite in memory for all processes, each of which reaches it over the network. Calls of a
// process do not keep their order, as over a pool of connections. A call that is rejected may have taken effect. The
// database can be away, frozen, slow or full, and a table can be locked.
import type { Archive } from '../../../packages/server/src/archive/port.ts'
import type { Machine } from '../time/machine.ts'
import type { Network } from '../time/network.ts'
import type { Random } from '../time/random.ts'
import type { Timeline } from '../time/timeline.ts'

/** Silence is noticed after half a second, and then a probe has a second and a half. */
const SILENCE_MS_MAX = 2_000
const NAME = 'database'

export type DatabaseState = 'up' | 'away' | 'frozen' | 'full' | 'locked'

export interface SimulatedDatabase {
  readonly name: string
  /** Without a network: for the checks. */
  readonly archive: Archive
  /** Nothing is being read or written. */
  isIdle(): boolean
  setState(state: DatabaseState): void
  setSlowMs(slowMs: number): void
  /** Of answers, the part that is lost though the call took effect. */
  setLostShare(share: number): void
  /** As a process sees it. */
  reachedFrom(machine: Machine): Archive
}

export interface DatabaseParts {
  archive: Archive
  network: Network
  timeline: Timeline
  random: Random
}

export function createSimulatedDatabase(parts: DatabaseParts): SimulatedDatabase {
  const { archive, network, timeline, random } = parts
  let state: DatabaseState = 'up'
  let slowMs = 0
  let lostShare = 0
  let waiting: (() => void)[] = []
  let running = 0

  function whenRunning(isWrite: boolean, run: () => void): void {
    if (state === 'frozen' || (state === 'locked' && isWrite)) waiting.push(run)
    else run()
  }

  function call<T>(machine: Machine, isWrite: boolean, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false
      const settle = (end: () => void) =>
        machine.deliver(() => {
          if (isOver) return
          isOver = true
          patience.stop()
          end()
        })
      // A lock is not silence: the database answers the probe.
      const giveUp = (): void => {
        if (isOver) return
        if (state === 'locked' && !network.isCut(machine.name, NAME)) patience = wait()
        else settle(() => reject(new Error('the database does not answer')))
      }
      const wait = () => timeline.at(timeline.now() + SILENCE_MS_MAX + slowMs, giveUp)
      let patience = wait()
      const answer = (end: () => void) =>
        timeline.at(timeline.now() + network.latencyMs() + random.fraction() * slowMs, () =>
          network.whenOpen(machine.name, NAME, () => settle(end)),
        )
      const arrive = (): void => {
        if (state === 'away') return void answer(() => reject(new Error('the database is away')))
        if (state === 'full' && isWrite) return void answer(() => reject(new Error('the disk is full')))
        // A call of a process that crashed may have got through or not.
        if (!machine.isAlive() && random.isTrue(0.5)) return
        const isLost = lostShare > 0 && random.isTrue(lostShare)
        running++
        run()
          .finally(() => {
            running--
          })
          .then(
            (value) => answer(() => (isLost ? reject(new Error('the connection broke')) : resolve(value))),
            (error) => answer(() => reject(error)),
          )
      }
      timeline.at(timeline.now() + network.latencyMs(), () =>
        network.whenOpen(machine.name, NAME, () => whenRunning(isWrite, arrive)),
      )
    })
  }

  return {
    name: NAME,
    archive,
    isIdle: () => running === 0,
    setState(next) {
      state = next
      const all = waiting
      waiting = []
      for (const run of all) timeline.at(timeline.now(), run)
    },
    setSlowMs(ms) {
      slowMs = ms
    },
    setLostShare(share) {
      lostShare = share
    },
    reachedFrom(machine) {
      const reached = <Port extends object>(port: Port): Port =>
        Object.fromEntries(
          Object.entries(port).map(([name, method]) => [
            name,
            typeof method === 'function'
              ? (...args: unknown[]) => call(machine, !READS.test(name), async () => method(...args))
              : method,
          ]),
        ) as Port
      const { history, disconnects, webhooks } = archive
      return {
        ...reached(archive),
        history: reached(history),
        disconnects: reached(disconnects),
        webhooks: reached(webhooks),
      }
    },
  }
}

const READS =
  /^(read|pending|aliveAt|hereIds|contactsOf|contactsJson|areContacts|ownersOf|namedBy|ping|keepsSince|hours|refusing|unended|page|of|edition|list|health|told|toldUsers|failures|unfinishedErasures|ownersOfErased)$/
