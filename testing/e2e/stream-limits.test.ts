// What a stream is refused for before it opens: a browser that is refused when it comes back gives up for
// good, so a list that could not be resumed does not begin; and opening again and again is polling.
import { describe, expect, test } from 'bun:test'
import { ID_BYTES_MAX, IDS_PER_QUERY_MAX, type Problem } from '@greendot/protocol'
import { createPatientClock } from '../clients/patient-clock.ts'
import { call, expectProblem } from '../http/calls.ts'
import { useScene } from './scene.ts'
import { openStream, streamPath } from './stream-client.ts'

const scene = useScene()
/** Unless it is configured. */
const WATCH_LIMIT = 500
const HEAD_BYTES_MAX = 64 * 1024
const OTHER_HEADERS_BYTES = 2 * 1024
/** A version in base 36 and a dot. */
const EVENT_ID_BYTES = 8

const uuids = (count: number) => Array.from({ length: count }, () => crypto.randomUUID())
/** Ids as long as they may be. */
const longIds = (count: number) => uuids(count).map((id) => id.padEnd(ID_BYTES_MAX, 'x'))
const open = (url: string, userIds: readonly string[], headers: Record<string, string> = {}) =>
  call<Problem>(url, 'GET', streamPath(userIds), { token: 'dev:alice', headers })

const say = (url: string, userId: string, text: string) =>
  call(url, 'PUT', `/api/v1/users/${userId}/status`, { token: 'dev', body: { text } })

/** As many ids of full length as a stream takes when nothing else makes its requests long. */
function longIdsThatFit(url: string): number {
  const room = HEAD_BYTES_MAX - OTHER_HEADERS_BYTES - url.length - streamPath([]).length + 1
  return Math.floor(room / (ID_BYTES_MAX + 1 + EVENT_ID_BYTES))
}

describe('long lists', () => {
  const servers = {
    'a server in this process': () => scene.server(),
    'a server of its own': () => scene.process(),
  }
  test.each(Object.entries(servers))(
    '[W1] as many UUIDs as one may watch open, are told, and come back with their event id: %s',
    async (_, start) => {
      const { url } = await start()
      const ids = uuids(WATCH_LIMIT)
      const last = ids.at(-1)!
      // The versions of users who were changed, which are as long as versions get.
      await Promise.all(ids.map((id) => say(url, id, 'here')))
      const first = await openStream(url, 'alice', ids)
      await say(url, last, 'changed')
      await first.sees(last, ({ custom_status }) => custom_status?.text === 'changed')
      const lastEventId = first.told[0]!.id
      first.close()
      expect(lastEventId.length).toBeGreaterThan(WATCH_LIMIT * (EVENT_ID_BYTES - 1))

      const again = await openStream(url, 'alice', ids, { lastEventId })
      scene.onEnd(again.close)
      // Only what changed since: the event id came whole.
      expect(again.told[0]!.frame).toMatchObject({ type: 'presence_state', states: [{ user_id: last }] })
    },
  )

  test('[W1] the longest list that opens can be resumed with its own event id, and one more does not open', async () => {
    const { url } = await scene.server()
    const count = longIdsThatFit(url)
    // What docs/protocol.md promises.
    expect(count).toBeGreaterThanOrEqual(460)
    const ids = longIds(count)
    await Promise.all(ids.map((id) => say(url, id, 'here')))
    const first = await openStream(url, 'alice', ids)
    const lastEventId = first.lastEventId()
    first.close()
    expect(lastEventId.length).toBeGreaterThan(count * (EVENT_ID_BYTES - 1))
    expect(lastEventId.length).toBeLessThan(count * EVENT_ID_BYTES)
    const again = await openStream(url, 'alice', ids, { lastEventId })
    scene.onEnd(again.close)
    expect(again.told[0]!.frame).toEqual({ type: 'presence_state', states: [] })

    const refused = await open(url, [...ids, ...longIds(1)])
    expectProblem(refused, 'too_large')
    expect(refused.body.detail).toContain('two streams')
    expect(refused.body.detail).toContain('WebSocket')
  })

  test('[W1] it goes by what the client really sends: a long token or many cookies leave less room', async () => {
    const { url } = await scene.server()
    const ids = longIds(longIdsThatFit(url) - 50)
    const opened = await openStream(url, 'alice', ids)
    opened.close()
    expectProblem(await open(url, ids, { cookie: 'x'.repeat(9_000) }), 'too_large')
  })

  test('[W1] [R1] UUIDs are held to how many they are, not to how long they are', async () => {
    const { url } = await scene.server()
    expectProblem(await open(url, uuids(WATCH_LIMIT + 1)), 'watch_limit')
    expectProblem(await open(url, uuids(IDS_PER_QUERY_MAX + 1)), 'too_many_ids')
    const { url: generous } = await scene.server({ watch_limit: IDS_PER_QUERY_MAX })
    const opened = await openStream(generous, 'alice', uuids(IDS_PER_QUERY_MAX))
    scene.onEnd(opened.close)
    expect(opened.status).toBe(200)
  })
})

describe('opening again and again', () => {
  const STREAMS = 4
  const AT_ONCE = 2 * STREAMS

  /** Null when the stream opened; it is closed again. */
  async function attempt(url: string): Promise<Response | null> {
    const headers = { authorization: 'Bearer dev:alice' }
    const answer = await fetch(url + streamPath(['bob']), { headers })
    if (!answer.ok) return answer
    await answer.body?.cancel()
    return null
  }

  test('[R5] as many as twice the streams a user may have, and then one a second', async () => {
    const clock = createPatientClock()
    const { url } = await scene.server({ sessions_per_user: STREAMS }, clock)
    const startedAt = clock.elapsed()
    let opened = 0
    let refused = await attempt(url)
    for (; refused === null; refused = await attempt(url)) opened++
    // On a busy machine a second or more may pass meanwhile.
    const seconds = Math.floor((clock.elapsed() - startedAt) / 1_000)
    expect(opened).toBeWithin(AT_ONCE, AT_ONCE + seconds + 1)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    expect(refused.headers.get('retry-after')).toBe('1')
    // Each for themselves, and reading by other ways is counted by itself.
    for (const viewer of ['carol', 'dave']) (await openStream(url, viewer, ['bob'])).close()
    expect((await call(url, 'GET', '/api/v1/presence/bob', { token: 'dev:alice' })).status).toBe(200)
    // As long as the refusal says, and a little for the granularity of clocks.
    await clock.sleep(1_100)
    const later = await openStream(url, 'alice', ['bob'])
    scene.onEnd(later.close)
    expect(later.status).toBe(200)
  })
})
