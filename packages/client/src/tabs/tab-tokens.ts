// Tokens for a hub that tabs share: the hub asks the tabs, because only they can ask the app. A tab that does
// not answer may be asleep, and one without a token says why; in both cases the next tab is asked. Both sides
// of this exchange are here.
import type { Hub } from '../connection/hub.ts'
import type { FromHub, OpenUplink, ToHub } from '../connection/messages.ts'
import type { Runtime, Timer } from '../platform.ts'

const TOKEN_MS_MAX = 10_000

type TokenAnswer = Extract<ToHub, { type: 'token' | 'no_token' }>

/** The side of the hub. Token messages do not reach the hub itself. */
export function hubWithTabTokens(runtime: Runtime, newHub: (token: () => Promise<string>) => Hub): Hub {
  const tabs = new Set<(message: FromHub) => void>()
  const open = new Map<number, (message: TokenAnswer | null) => void>()
  let lastRef = 0

  async function askOne(send: (message: FromHub) => void): Promise<TokenAnswer | null> {
    const ref = ++lastRef
    let limit: Timer | undefined
    const answer = await new Promise<TokenAnswer | null>((resolve) => {
      open.set(ref, resolve)
      limit = runtime.after(TOKEN_MS_MAX, () => resolve(null))
      send({ type: 'token', ref })
    })
    limit?.stop()
    open.delete(ref)
    return answer
  }

  async function ask(): Promise<string> {
    let problem = 'no tab has answered'
    // The newest tabs are the most likely to be awake.
    for (const send of [...tabs].reverse()) {
      const answer = await askOne(send)
      if (answer?.type === 'token') return answer.token
      problem = answer?.problem ?? problem
    }
    throw new Error(`no token: ${problem}`)
  }

  const hub = newHub(ask)
  return {
    close: hub.close,
    addTab(send) {
      const tab = hub.addTab(send)
      tabs.add(send)
      return {
        receive(message) {
          if (message.type === 'token' || message.type === 'no_token') open.get(message.ref)?.(message)
          else tab.receive(message)
        },
        leave() {
          tabs.delete(send)
          tab.leave()
        },
      }
    },
  }
}

/** The side of the tab: answers token messages and passes on the rest. */
export function uplinkWithTokens(open: OpenUplink, token: () => Promise<string>): OpenUplink {
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
