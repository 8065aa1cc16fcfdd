// A batch query of 200 ids in the embedded store: from the parsed request to the text of the response inside
// the process, beside JSON.stringify of ready objects; and over HTTP on open connections, beside the same
// runtime that answers a ready text of the same size.
import type { BunRequest } from 'bun'
import { presenceRoutes } from '../../../server/src/http/routes/presence.ts'
import { type Micro, perCpuSecond, type Reading, type Scale, sideBySide } from './measure.ts'
import { type MeasuredServer, perServerCpuSecond, startBare, startMeasured } from './setup/servers.ts'
import { createUsers, userName } from './setup/users.ts'

const IDS = 200
const CONNECTED = 2_000
const CONNECTED_OVER_HTTP = 400
const QUERIES_PER_SLICE = 20
const AT_A_TIME = 16
const VIEWER = userName(0)
/** The ids of the n-th query: each user is queried as often as the others, in no order. */
const idsOf = (query: number, users: number): string[] =>
  Array.from({ length: IDS }, (_, step) => userName((query * 37 + step * 7) % users))

export const queries: Micro = {
  name: 'queries',
  about: 'batch queries of 200 in the embedded store, inside the process and over HTTP',
  missing: () => null,
  run: async (scale) => [await inside(scale), await overHttp(scale)],
}

async function inside({ rounds, roundMs }: Scale): Promise<Reading> {
  const users = await createUsers()
  await users.connect(CONNECTED)
  const asked = Array.from({ length: QUERIES_PER_SLICE }, (_, query) => idsOf(query, CONNECTED))
  const route = presenceRoutes(users)['/api/v1/presence/query']!.POST!
  const caller = { kind: 'user', userId: VIEWER, expiresAt: null, issuedAt: null } as const
  // As the guard calls it, when everything has been read and checked.
  const request = new Request('http://localhost/') as BunRequest
  const answerTo = async (userIds: readonly string[]): Promise<string> =>
    (await route.run({ params: {}, query: {}, body: { user_ids: userIds }, caller, request })).text()

  async function answer(): Promise<number> {
    for (const userIds of asked) await answerTo(userIds)
    return asked.length
  }
  const ready = await Promise.all(asked.map(async (userIds) => JSON.parse(await answerTo(userIds))))
  if (ready.some((found) => found.length !== IDS)) throw new Error(`a query has other than ${IDS} answers`)
  async function stringify(): Promise<number> {
    for (const found of ready) await new Response(JSON.stringify(found)).text()
    return ready.length
  }

  const compared = await sideBySide(
    { name: 'query of 200, inside', unit: 'queries per CPU-second', rounds },
    perCpuSecond(roundMs, answer),
    perCpuSecond(roundMs, stringify),
  )
  await users.close()
  return compared
}

async function overHttp({ rounds, roundMs }: Scale): Promise<Reading> {
  const greendot = await startMeasured()
  let bare: MeasuredServer | null = null
  try {
    const device = { device_id: 'laptop', platform: 'web', activity: 'active' }
    for (let user = 0; user < CONNECTED_OVER_HTTP; user++) {
      await post(`${greendot.url}/api/v1/heartbeat`, greendot.tokenOf(user), JSON.stringify(device))
    }
    const bodies = Array.from({ length: QUERIES_PER_SLICE }, (_, query) =>
      JSON.stringify({ user_ids: idsOf(query, CONNECTED_OVER_HTTP) }),
    )
    const path = `/api/v1/presence/query?viewer_id=${VIEWER}`
    bare = await startBare(await post(greendot.url + path, greendot.key, bodies[0]!))
    const asking = ({ url, key }: MeasuredServer) => askAll({ url: url + path, key, bodies, roundMs })
    const reading = await sideBySide(
      { name: 'query of 200, HTTP', unit: 'queries per CPU-second', rounds },
      perServerCpuSecond(greendot, asking(greendot)),
      perServerCpuSecond(bare, asking(bare)),
    )
    return { ...reading, constant: { name: 'query_cpu_us', value: 1e6 / reading.ours } }
  } finally {
    await greendot.stop()
    await bare?.stop()
  }
}

/** Several askers, each with its own connection, one question after the other. */
function askAll(asking: {
  url: string
  key: string
  bodies: readonly string[]
  roundMs: number
}): () => Promise<number> {
  const { url, key, bodies, roundMs } = asking
  return async () => {
    const until = performance.now() + roundMs
    let asked = 0
    async function ask(): Promise<void> {
      while (performance.now() < until) await post(url, key, bodies[asked++ % bodies.length]!)
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, ask))
    return asked
  }
}

async function post(url: string, token: string, body: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return text
}
