// Batch queries of a backend at a fixed rate, each timed from the instant it was due until the answer is
// parsed, so that a slow answer does not delay the clock of the others.

import { createLatencies, type Latencies } from '../figures/histogram.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Subject } from '../subject/subject.ts'
import { userName } from '../wires/wire.ts'

export interface Backend {
  call(method: 'PUT' | 'POST', path: string, body: object): Promise<unknown>
}

const CALL_MS_MAX = 30_000

export function backendOf({ backend }: Subject): Backend {
  if (backend === null) throw new BenchProblem('this server answers no queries of backends')
  const headers = { authorization: `Bearer ${backend.key}`, 'content-type': 'application/json' }
  return {
    async call(method, path, body) {
      const signal = AbortSignal.timeout(CALL_MS_MAX)
      const response = await fetch(`${backend.url}${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
        signal,
      })
      if (!response.ok)
        throw new BenchProblem(`${method} ${path}: ${response.status} ${await response.text()}`)
      return response.json().catch(() => null)
    },
  }
}

export interface Asking {
  users: number
  size: number
  perSecond: number
  seconds: number
}

export async function askSteadily(backend: Backend, asking: Asking): Promise<Latencies> {
  const { users, size, perSecond, seconds } = asking
  const latencies = createLatencies()
  const startedAt = now()
  const asked: Promise<void>[] = []
  const failures: unknown[] = []
  for (let count = 0; count < seconds * perSecond; count++) {
    const dueAt = startedAt + (count / perSecond) * 1000
    await sleep(dueAt - now())
    if (failures.length > 0) break
    asked.push(ask(count, dueAt).catch((error) => void failures.push(error)))
  }
  await Promise.all(asked)
  if (failures.length > 0) throw failures[0]
  return latencies

  async function ask(count: number, dueAt: number): Promise<void> {
    const userIds = Array.from({ length: size }, (_, step) => userName((count * 37 + step * 3) % users))
    const path = `/api/v1/presence/query?viewer_id=${userName(count % users)}`
    const found = (await backend.call('POST', path, { user_ids: userIds })) as unknown[]
    if (found.length !== size) throw new BenchProblem(`asked for ${size}, got ${found.length}`)
    latencies.record(now() - dueAt)
  }
}
