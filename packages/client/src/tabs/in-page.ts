// What pages add to the core: activity, the life of the page, and tabs that share one connection. Loaded
// while the first token is fetched, so it costs no time, and programs outside of browsers never load it.
// Like everything that is loaded later it imports no values of the core, so that the core stays one file.
import { startActivity } from '../activity/page-activity.ts'
import type { Hub } from '../connection/hub.ts'
import type { OpenUplink, Uplink } from '../connection/messages.ts'
import type { Address } from '../connection/transport.ts'
import type { InnerDot } from '../dot/dot.ts'
import type { Page, Runtime, Timer } from '../platform.ts'
import type { ConnectOptions } from '../types.ts'
import { electedUplink } from './election.ts'
import { followPage } from './page-lifecycle.ts'
import { startPulse } from './pulse.ts'
import { answeringTokens, askingTabs } from './tab-tokens.ts'
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

/** Tabs that were loaded before an update must not misunderstand those loaded after it. */
const MESSAGES_VERSION = 2
const DEVICE_KEY = 'greendot.device'

export function inhabit(parts: PageParts): void {
  const { runtime, window, options, dot } = parts
  // It may have been closed while this was loaded.
  if (dot.state === 'closed') return
  const deviceId = options.deviceId ?? keptDeviceId(window, parts.address.deviceId)
  const address = { ...parts.address, deviceId }
  const newHub = (token: () => Promise<string>) =>
    parts.newHub(address, (intervalMs, run) => startPulse(runtime, intervalMs, run), token)
  const isShared = options.tabs !== 'separate' && runtime.locks && runtime.BroadcastChannel
  const tokens = isShared ? createTokens(parts.token) : { user: null, next: parts.token }
  const alone = parts.soloUplink(() => newHub(tokens.next))
  const newSharedHub = () => askingTabs(runtime, newHub)
  const open = tokens.user
    ? sharedUplink(tokens.user, (user) =>
        user === null
          ? alone
          : answeringTokens(uplinkOf(user, { ...parts, address }, newSharedHub), tokens.next),
      )
    : alone
  const { awayAfterMs, noteActivity: onActive } = dot
  const { idleDetection } = options
  const followed = [
    startActivity({ runtime, window, idleDetection, awayAfterMs, onActive }),
    followPage(window, dot, open),
  ]
  dot.on('state', (state) => {
    if (state === 'closed') for (const one of followed) one.stop()
  })
}

/** The same for all tabs and after a reload, so that neither is a departure. */
function keptDeviceId(window: Page, made: string): string {
  try {
    const { localStorage } = window
    const kept = localStorage.getItem(DEVICE_KEY)
    if (kept !== null) return kept
    localStorage.setItem(DEVICE_KEY, made)
  } catch {
    // The browser keeps nothing for this page: after a reload it is another device.
  }
  return made
}

/** Tabs share when they are of one user, so whose tab this is has to be known before. */
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
  return workerUplink({ runtime, start, hello: { hub: name, address, transport }, otherwise: elected })
}

/** The first token says whose tab this is, and is then used like any other. */
function createTokens(fetchToken: () => Promise<string>) {
  let first: Promise<string> | null = fetchToken()
  /** Null when it cannot be told. */
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
