// A link on a fake clock, with the test as the server.
import type { Activity } from '@greendot/protocol'
import { createLink } from '../src/connection/link.ts'
import type { Gone, Incoming } from '../src/connection/transport.ts'
import type { Runtime, Timer } from '../src/platform.ts'
import type { DotFailure } from '../src/types.ts'
import { runtimeOf, scriptedDial } from './runtime.ts'

interface MovableClock extends Pick<Runtime, 'now' | 'after' | 'every'> {
  advance(ms: number): Promise<void>
  timerCount(): number
}

export interface LinkWorldOptions {
  hasSockets?: boolean
  hasHttp?: boolean
  random?: () => number
  pulse?: (intervalMs: number, run: () => void) => Timer
}

export function createLinkWorld(clock: MovableClock, options: LinkWorldOptions = {}) {
  const { hasSockets = true, hasHttp = true, random = () => 1, pulse = clock.every } = options
  const sockets = scriptedDial()
  const http = scriptedDial()
  const world = {
    clock,
    sockets,
    http,
    frames: [] as Incoming[],
    errors: [] as DotFailure[],
    /** Callbacks of the link, in order. */
    events: [] as ('welcome' | 'down' | Gone)[],
    tokens: 0,
    activity: 'active' as Activity,
    tokenOf: async (count: number): Promise<string> => `token-${count}`,
  }
  let sleptMs = 0
  const link = createLink({
    runtime: runtimeOf(clock, { random, now: () => clock.now() + sleptMs }),
    dialSocket: hasSockets ? sockets.dial : undefined,
    dialHttp: hasHttp ? http.dial : undefined,
    token: () => world.tokenOf(++world.tokens),
    activity: () => world.activity,
    pulse,
    onWelcome: () => world.events.push('welcome'),
    onFrame: (frame) => world.frames.push(frame),
    onDown: () => world.events.push('down'),
    onGone: (how) => world.events.push(how),
    onError: (failure) => world.errors.push(failure),
  })
  return Object.assign(world, {
    link,
    /** Time passes without timers, as in a machine that sleeps. */
    sleep(ms: number) {
      sleptMs += ms
    },
    async live() {
      link.start()
      await clock.advance(0)
      sockets.last().welcome()
    },
  })
}
