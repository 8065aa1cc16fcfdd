// Batch queries while everybody is connected and many change: how long a backend waits for 200 and for
// 1,000 people through the eyes of one of them, a tenth of whom show themselves to contacts only. Asked
// at a fixed rate and timed from the instant each question was due, so that a slow answer delays nobody
// else's clock.
import { startGreendot, startLoad } from './processes.ts'

const CONNECTED = 5_000
const CHANGES_PER_SECOND = 500
const PRIVATE_SHARE = 0.1
const ASKED_PER_SECOND = 20
const SIZES = [200, 1_000] as const

export interface QueryOptions {
  contacts: number
  seconds: number
  say(line: string): void
}

const name = (user: number) => `user-${user % CONNECTED}`
const server = { authorization: 'Bearer dev' }

export async function query({ contacts, seconds, say }: QueryOptions): Promise<void> {
  const greendot = await startGreendot([])
  const base = `http://127.0.0.1:${greendot.port}`
  for (let user = 0; user < CONNECTED * PRIVATE_SHARE; user++) {
    await put(`${base}/api/v1/users/${name(user * 10)}/settings`, { status_visibility: 'contacts' })
    await put(`${base}/api/v1/users/${name(user * 10)}/contacts`, { user_ids: [name(user * 10 + 1)] })
  }
  const load = startLoad()
  const paths = Array.from({ length: CONNECTED }, (_, user) => `/api/v1/ws?token=dev:${name(user)}`)
  const watch = paths.map((_, user) => Array.from({ length: contacts }, (_, step) => name(user + step + 1)))
  await load.order({ do: 'open', port: greendot.port, paths, watch, parallel: 200 })
  await load.order({ do: 'flip', clients: CONNECTED, perSecond: CHANGES_PER_SECOND })
  say(`query: ${CONNECTED} connected, ${CHANGES_PER_SECOND} changes a second, each to ${contacts} watchers`)
  for (const size of SIZES) {
    await ask(base, size, 2)
    const waits = await ask(base, size, seconds)
    const at = (share: number) =>
      waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!.toFixed(2)
    say(
      `  ${String(size).padStart(5)} ids         p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${waits.length} queries`,
    )
  }
  await load.stop()
  await greendot.stop()
}

async function put(url: string, body: object): Promise<void> {
  const response = await fetch(url, { method: 'PUT', headers: server, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
}

/** Milliseconds each question took, from the instant it was due; sorted. */
async function ask(base: string, size: number, seconds: number): Promise<number[]> {
  const everyMs = 1000 / ASKED_PER_SECOND
  const startedAt = performance.now()
  const asked = Array.from({ length: seconds * ASKED_PER_SECOND }, async (_, count) => {
    const dueAt = startedAt + count * everyMs
    await Bun.sleep(dueAt - performance.now())
    const userIds = Array.from({ length: size }, (_, step) => name(count * 37 + step * 3))
    const response = await fetch(`${base}/api/v1/presence/query?viewer_id=${name(count)}`, {
      method: 'POST',
      headers: server,
      body: JSON.stringify({ user_ids: userIds }),
    })
    const found = (await response.json()) as unknown[]
    if (found.length !== size) throw new Error(`asked for ${size}, got ${found.length}`)
    return performance.now() - dueAt
  })
  return (await Promise.all(asked)).sort((a, b) => a - b)
}
