// What pages add to the core: activity, page lifecycle, and tabs that share one connection. Loaded while the
// first token is fetched, so it adds no delay; other runtimes never load it. Like every module that is loaded
// later it imports no values of the core, so that the core stays one file.
import { startPageActivity } from '../activity/page-activity.ts'
import type { Hub } from '../connection/hub.ts'
import type { OpenUplink, Uplink } from '../connection/messages.ts'
import type { Address } from '../connection/transport.ts'
import { provide } from '../context/context.ts'
import type { InnerDot } from '../dot/dot.ts'
import type { Page, Runtime, Timer } from '../platform.ts'
import type { ConnectOptions } from '../types.ts'
import { electedUplink } from './election.ts'
import { followPage } from './page-lifecycle.ts'
import { startPulse } from './pulse.ts'
import { hubWithTabTokens, uplinkWithTokens } from './tab-tokens.ts'
import { workerUplink } from './worker-uplink.ts'

export interface PageParts {
  runtime: Runtime
  window: Page
  options: ConnectOptions
  address: Address
  dot: InnerDot
  token(): Promise<string>
  newHub(address: Address, pulse: Pulse, token: () => Promise<string>): Hub
  soloUplink(newHub: () => Hub): OpenUplink
}

type Pulse = (intervalMs: number, run: () => void) => Timer

/** Tabs with different versions of this code must not exchange messages. */
const MESSAGES_VERSION = 3
const DEVICE_KEY = 'greendot.device'

export function attachToPage(parts: PageParts): void {
  const { runtime, window, options, dot } = parts
  // It may have been closed while this module was loaded.
  if (dot.state === 'closed') return
  const deviceId = options.deviceId ?? storedDeviceId(window, parts.address.deviceId)
  const address = { ...parts.address, deviceId }
  const newHub = (token: () => Promise<string>) =>
    parts.newHub(address, (intervalMs, run) => startPulse(runtime, intervalMs, run), token)
  const isShared = options.tabs !== 'separate' && runtime.locks && runtime.BroadcastChannel
  const tokens = isShared ? createTokens(parts.token) : { user: null, next: parts.token }
  const alone = parts.soloUplink(() => newHub(tokens.next))
  const newSharedHub = () => hubWithTabTokens(runtime, newHub)
  const open = tokens.user
    ? sharedUplink(tokens.user, (user) =>
        user === null
          ? alone
          : uplinkWithTokens(uplinkOf(user, { ...parts, address }, newSharedHub), tokens.next),
      )
    : alone
  const { awayAfterMs, noteActivity: onActive } = dot
  const { idleDetection } = options
  const followed = [
    startPageActivity({ runtime, window, idleDetection, awayAfterMs, onActive }),
    followPage(window, dot, open),
  ]
  // Elements that know this dot only by its name ask for it.
  const stopProviding = provide(String(dot), dot)
  dot.on('state', (state) => {
    if (state !== 'closed') return
    stopProviding()
    for (const one of followed) one.stop()
  })
}

/** The same for all tabs and after a reload, so that a reload is not a departure. */
function storedDeviceId(window: Page, made: string): string {
  try {
    const { localStorage } = window
    const stored = localStorage.getItem(DEVICE_KEY)
    if (stored !== null) return stored
    localStorage.setItem(DEVICE_KEY, made)
  } catch {
    // Storage is blocked: after a reload this is another device.
  }
  return made
}

/** Tabs of one user share, so the user must be known first. */
function sharedUplink(
  user: Promise<string | null>,
  uplinkOf: (user: string | null) => OpenUplink,
): OpenUplink {
  return (on) => {
    let uplink: Uplink | null = null
    let isOpen = true
    void user.then((known) => {
      if (isOpen) uplink = uplinkOf(known)(on)
    })
    return {
      send: (message) => uplink?.send(message),
      close() {
        isOpen = false
        uplink?.close()
      },
    }
  }
}

function uplinkOf(
  user: string,
  { runtime, window, options, address }: PageParts,
  newHub: () => Hub,
): OpenUplink {
  const name = `greendot ${MESSAGES_VERSION} ${address.url} ${user}`
  const elected = electedUplink(runtime, name, newHub)
  const { worker, transport = 'auto' } = options
  if (!worker || !window.SharedWorker) return elected
  const start = () =>
    typeof worker === 'function'
      ? worker()
      : new window.SharedWorker(worker, { type: 'module', name: 'greendot' })
  return workerUplink({ runtime, start, hello: { hub: name, address, transport }, fallback: elected })
}

/** The first token names the user, and is then used for the first connection. */
function createTokens(fetchToken: () => Promise<string>) {
  let first: Promise<string> | null = fetchToken()
  /** Null if the token does not name its user. */
  const user = first.then(userOf, () => null)
  return {
    user,
    async next(): Promise<string> {
      const fetched = first ?? fetchToken()
      first = null
      const token = await fetched
      const owner = await user
      if (owner !== null && userOf(token) !== owner)
        throw new Error('this token is of another user; close() and connect() again')
      return token
    },
  }
}

function userOf(token: string): string | null {
  try {
    if (token.startsWith('dev:')) return token.slice(4)
    const claims = token.split('.')[1]!.replace(/-/g, '+').replace(/_/g, '/')
    return JSON.parse(atob(claims)).sub ?? null
  } catch {
    return null
  }
}
