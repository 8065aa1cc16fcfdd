// Tokens come from the tabs, because only they can ask the app for one. A tab that does not answer may be
// asleep, and one that has none says why; either way the next one is asked.
import type { Runtime, Timer } from './platform.ts'
import type { Down, Up } from './ports.ts'

const TOKEN_MS_MAX = 10_000

type Delivery = Extract<Up, { type: 'token' | 'no_token' }>

export interface TokenDesk {
  /** Asks one after the other; rejects when nobody has one. */
  ask(tabs: readonly { send(message: Down): void }[]): Promise<string>
  deliver(message: Delivery): void
}

export function createTokenDesk(runtime: Runtime): TokenDesk {
  const open = new Map<number, (message: Delivery | null) => void>()
  let lastRef = 0

  async function askOne(tab: { send(message: Down): void }): Promise<Delivery | null> {
    const ref = ++lastRef
    let limit: Timer | undefined
    const delivery = await new Promise<Delivery | null>((resolve) => {
      open.set(ref, resolve)
      limit = runtime.after(TOKEN_MS_MAX, () => resolve(null))
      tab.send({ type: 'token', ref })
    })
    limit?.stop()
    open.delete(ref)
    return delivery
  }

  return {
    async ask(tabs) {
      let problem = 'nobody has answered'
      for (const tab of tabs) {
        const delivery = await askOne(tab)
        if (delivery?.type === 'token') return delivery.token
        problem = delivery?.problem ?? problem
      }
      throw new Error(`no token: ${problem}`)
    },
    deliver: (message) => open.get(message.ref)?.(message),
  }
}
