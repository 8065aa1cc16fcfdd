// Reads over HTTP, as a backend does: samples during the fault, and all users at the end.
import type { Presence } from '@greendot/protocol'
import { chunksOf } from '../../packages/server/src/platform/chunks.ts'
import type { User } from './users.ts'

const IDS_MAX = 1_000
const SAMPLE_EVERY_MS = 250
const SAMPLE_USERS = 5
const ANSWER_MS_MAX = 10_000

export interface Sample {
  at: number
  tookMs: number
  /** The HTTP status; 0 when there was no answer. */
  code: number
  isDegraded: boolean
}

async function query(url: string, userIds: readonly string[]): Promise<Response> {
  return fetch(`${url}/api/v1/presence/query`, {
    method: 'POST',
    headers: { authorization: 'Bearer dev', 'content-type': 'application/json' },
    body: JSON.stringify({ user_ids: userIds }),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  })
}

/** Queries a few users every 250 ms until stopped. */
export function sampleQueries(url: string, users: readonly User[]): { stop(): Sample[] } {
  const samples: Sample[] = []
  let next = 0
  const timer = setInterval(async () => {
    const at = performance.now()
    const asked = Array.from({ length: SAMPLE_USERS }, () => users[next++ % users.length]!.id)
    let [code, isDegraded] = [0, false]
    try {
      const response = await query(url, asked)
      code = response.status
      isDegraded = response.headers.get('greendot-degraded') === 'true'
      await response.arrayBuffer()
    } catch {
      // Sampled with code 0.
    }
    samples.push({ at, tookMs: performance.now() - at, code, isDegraded })
  }, SAMPLE_EVERY_MS)
  return {
    stop() {
      clearInterval(timer)
      return samples
    },
  }
}

/** Users whose state one process answers wrongly, as texts. */
export async function wrongAnswers(url: string, users: readonly User[]): Promise<string[]> {
  const wrong: string[] = []
  for (const slice of chunksOf(users, IDS_MAX)) {
    const response = await query(
      url,
      slice.map(({ id }) => id),
    )
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
    const answers = (await response.json()) as Presence[]
    for (const [index, user] of slice.entries()) {
      const { status, custom_status } = answers[index]!
      const isRight = status === user.status.current() && (custom_status?.text ?? '') === user.text.current()
      if (!isRight) wrong.push(`${user.id} is answered as ${status}, true is ${user.status.current()}`)
    }
  }
  return wrong
}
