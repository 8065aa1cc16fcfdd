// Tokens for a hub that tabs share: they come from the tabs, because only those can ask the app for one. A
// tab that does not answer may be asleep, and one that has none says why; either way the next one is asked.
// Both ends of it are here; a hub that has its app right beside it needs neither.
import type { Hub } from '../connection/hub.ts'
import type { Down, OpenUplink, Up } from '../connection/messages.ts'
import type { Runtime, Timer } from '../platform.ts'

const TOKEN_MS_MAX = 10_000

type Delivery = Extract<Up, { type: 'token' | 'no_token' }>

/** The end of the hub: what comes and goes for the sake of tokens, it never sees. */
export function askingTabs(runtime: Runtime, newHub: (token: () => Promise<string>) => Hub): Hub {
  const tabs = new Set<(message: Down) => void>()
  const open = new Map<number, (message: Delivery | null) => void>()
  let lastRef = 0

  async function askOne(send: (message: Down) => void): Promise<Delivery | null> {
    const ref = ++lastRef
    let limit: Timer | undefined
    const delivery = await new Promise<Delivery | null>((resolve) => {
      open.set(ref, resolve)
      limit = runtime.after(TOKEN_MS_MAX, () => resolve(null))
      send({ type: 'token', ref })
    })
    limit?.stop()
    open.delete(ref)
    return delivery
  }

  async function ask(): Promise<string> {
    let problem = 'nobody has answered'
    // Those who came last are the most likely to be awake.
    for (const send of [...tabs].reverse()) {
      const delivery = await askOne(send)
      if (delivery?.type === 'token') return delivery.token
      problem = delivery?.problem ?? problem
    }
    throw new Error(`no token: ${problem}`)
  }

  const hub = newHub(ask)
  return {
    close: hub.close,
    seat(send) {
      const seat = hub.seat(send)
      tabs.add(send)
      return {
        receive(message) {
          if (message.type === 'token' || message.type === 'no_token') open.get(message.ref)?.(message)
          else seat.receive(message)
        },
        leave() {
          tabs.delete(send)
          seat.leave()
        },
      }
    },
  }
}

/** The end of a tab: the hub gets its answers, and the rest comes through. */
export function answeringTokens(open: OpenUplink, token: () => Promise<string>): OpenUplink {
  return (on) => {
    const uplink = open({
      attached: on.attached,
      down: (message) => (message.type === 'token' ? void answer(message.ref) : on.down(message)),
    })

    async function answer(ref: number): Promise<void> {
      try {
        uplink.send({ type: 'token', ref, token: await token() })
      } catch (error) {
        uplink.send({
          type: 'no_token',
          ref,
          problem: error instanceof Error ? error.message : String(error),
        })
      }
    }

    return uplink
  }
}
