// No process is wedged: each answers /healthz and /readyz, and ends in time when it is asked to.
import { request } from '../clients/requests.ts'
import type { Servers } from '../deployment/servers.ts'
import { TIMES } from '../deployment/times.ts'
import type { History } from '../history/history.ts'
import type { Violation } from './violation.ts'

/** To close everything after the drain, on a loaded machine. */
const CLOSE_MS_MAX = 10_000

export async function checkProcesses(servers: Servers, history: History): Promise<Violation[]> {
  const found: Violation[] = []
  const say = (what: string) => found.push({ check: 'process', at: performance.now(), what })
  for (const { name, process } of servers.running()) {
    if (!process.isRunning()) say(`${name} has ended by itself`)
    for (const path of ['/healthz', '/readyz']) {
      const code = await request(`${process.url}${path}`, 'GET', 'dev').then(
        ({ status }) => String(status),
        (error) => String(error),
      )
      if (code !== '200') say(`${name} answers ${path} with ${code}`)
    }
  }
  await Promise.all(
    Array.from({ length: servers.count }, async (_, place) => {
      const name = servers.at(place)?.name
      const startedAt = performance.now()
      try {
        await servers.stop(place)
        const tookMs = Math.round(performance.now() - startedAt)
        history.remark(`${name} ended within ${tookMs} ms`)
        if (tookMs > TIMES.drain_ms + CLOSE_MS_MAX) say(`${name} took ${tookMs} ms to end`)
      } catch (error) {
        say(`${name} did not end: ${error}`)
      }
    }),
  )
  return found
}
