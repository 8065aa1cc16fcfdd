// Reads over HTTP, as a backend does: samples while something is broken, and everybody at the end.
import type { Presence } from '@greendot/protocol'
import type { Person } from './users.ts'

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

/** Asks about a few people again and again until stopped. */
export function sampleQueries(url: string, people: readonly Person[]): { stop(): Sample[] } {
  const samples: Sample[] = []
  let next = 0
  const timer = setInterval(async () => {
    const at = performance.now()
    const asked = Array.from({ length: SAMPLE_USERS }, () => people[next++ % people.length]!.id)
    let [code, isDegraded] = [0, false]
    try {
      const response = await query(url, asked)
      code = response.status
      isDegraded = response.headers.get('greendot-degraded') === 'true'
      await response.arrayBuffer()
    } catch {
      // No answer at all is an answer too: it is sampled with code 0.
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

/** Who is said to be something else than they are, by one process. */
export async function wrongAnswers(url: string, people: readonly Person[]): Promise<string[]> {
  const wrong: string[] = []
  for (let from = 0; from < people.length; from += IDS_MAX) {
    const slice = people.slice(from, from + IDS_MAX)
    const response = await query(
      url,
      slice.map(({ id }) => id),
    )
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
    const answers = (await response.json()) as Presence[]
    for (const [index, person] of slice.entries()) {
      const { status, custom_status } = answers[index]!
      const isRight =
        status === person.status.current() && (custom_status?.text ?? '') === person.text.current()
      if (!isRight) wrong.push(`${person.id} is said to be ${status}, and is ${person.status.current()}`)
    }
  }
  return wrong
}
