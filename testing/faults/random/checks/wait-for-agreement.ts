// Waits until all watchers and all servers show what is true, and keep showing it for a while.
import type { Person } from '../clients/people.ts'
import { query } from '../clients/requests.ts'
import type { Viewer } from '../clients/viewers.ts'
import type { Servers } from '../deployment/servers.ts'
import type { Shown } from '../history/truth.ts'
import { disagreement } from './agreement.ts'
import type { Violation } from './violation.ts'

const CHECK_EVERY_MS = 200
/** Nothing may contradict the truth for this long. */
const QUIET_MS = 600

export interface AgreementParts {
  servers: Servers
  people: readonly Person[]
  /** Those that watch now. */
  viewers: ReadonlySet<Viewer>
}

/** Resolves with nothing when all agree, or with what does not when the time is over. */
export type Agree = (until: () => number) => Promise<Violation[]>

export function createAgreement({ servers, people, viewers }: AgreementParts): Agree {
  const ids = people.map(({ target }) => target.id)

  async function disagreements(): Promise<Violation[]> {
    const shown = new Map<string, Shown[]>(ids.map((id) => [id, []]))
    for (const viewer of viewers) {
      if (!viewer.peer.isReady()) return [notReady(viewer.id)]
      for (const [id, one] of viewer.screen) shown.get(id)!.push(one)
    }
    for (const { name, process } of servers.running()) {
      for (const { id: viewer } of viewers) {
        const { code, isDegraded, presences } = await query(process.url, viewer, ids)
        if (code !== 200 || isDegraded) return [notReady(`${name} (${code}, degraded: ${isDegraded})`)]
        for (const { user_id, status, custom_status, devices, version } of presences) {
          const text = custom_status?.text ?? null
          shown.get(user_id)!.push({ by: name, viewer, status, text, deviceCount: devices.length, version })
        }
      }
    }
    const now = performance.now()
    return people
      .map((one) => disagreement(one.truth(), shown.get(one.target.id)!, now))
      .filter((one) => one !== null)
  }

  return async (until) => {
    let agreedAt: number | null = null
    while (true) {
      const found = await disagreements()
      const now = performance.now()
      if (found.length > 0) agreedAt = null
      else agreedAt ??= now
      if (agreedAt !== null && now - agreedAt >= QUIET_MS) return []
      if (now > until() && found.length > 0) return found
      await Bun.sleep(CHECK_EVERY_MS)
    }
  }
}

const notReady = (who: string): Violation => ({
  check: 'agreement',
  at: performance.now(),
  what: `${who} is not ready`,
})
