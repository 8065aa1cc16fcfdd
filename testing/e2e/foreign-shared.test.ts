// Foreign gateways and disconnects in a deployment of several processes: any of them may receive any batch, one holds the
// sessions, and when it dies or goes away no user is shown as gone. A disconnect reaches connections of every process.
import { expect, test } from 'bun:test'
import { CLOSE } from '@greendot/protocol'
import { SERVER_KEY, secondsFromNow, securedSettings, sign } from '../http/tokens.ts'
import { until, WAIT_MS } from '../services/within.ts'
import { call, isOffline, isOnline, watch } from './scene.ts'
import { describeWithPairs } from './shared-services.ts'

const TEST_MS_MAX = 120_000
const REPORT_EVERY_MS = 200
const usersTo = (count: number) => Array.from({ length: count }, (_, n) => `user-${n}`)
const USERS = usersTo(8)
/** Names of processes are random: one of three is the holder of none of so many gateways once in 400,000 runs. */
const MANY_USERS = usersTo(32)

const PHONE = { device_id: 'd1', platform: 'mobile', activity: 'active' }
const LAPTOP = { device_id: 'd2', platform: 'web', activity: 'active' }

/** One gateway for each user, so that every process holds some. */
const batchOf = (userId: string, devices: readonly object[]) => ({
  gateway_id: `chat-of-${userId}`,
  sessions: devices.map((device) => ({ user_id: userId, ...device })),
})

const report = (url: string, body: object, token = 'dev') =>
  call<{ accepted: number; rejected: object[] }>(url, token, 'POST', '/api/v1/heartbeats', body)

const reportAll = async (url: string, devices: readonly object[] = [PHONE], users = USERS) => {
  for (const userId of users)
    expect((await report(url, batchOf(userId, devices))).body.accepted).toBe(devices.length)
}

const exported = async (url: string, userId: string) =>
  (
    await call<{ kept: { sessions: { session_id: string; state: string }[] } }>(
      url,
      'dev',
      'GET',
      `/api/v1/users/${userId}/export`,
    )
  ).body.kept.sessions

/** How old a process's list of the others may be. */
const LIST_MS_MAX = 1_000

/**
 * A process that has just started is not known to the other for a moment. Sessions that are reported meanwhile move to it
 * afterwards, and are doubled on the way.
 */
async function untilHoldersAreKnown(here: string, there: string): Promise<void> {
  const startedAt = performance.now()
  await until(WAIT_MS, 'both processes to know each other', async () => {
    const isListOld = performance.now() - startedAt > LIST_MS_MAX
    for (const url of [here, there]) await reportAll(url)
    const sessions = await Promise.all(USERS.map((userId) => exported(there, userId)))
    return isListOld && sessions.every(({ length }) => length === 1)
  })
}

describeWithPairs('several processes', (scene, pair) => {
  test('[C4, D9] batches may come to any process: a session is one session, and nothing is written again', async () => {
    const { here, there } = await pair()
    await untilHoldersAreKnown(here, there)
    const before = await Promise.all(USERS.map((userId) => exported(there, userId)))
    for (const sessions of before) expect(sessions).toMatchObject([{ state: 'live' }])
    for (let round = 0; round < 3; round++) for (const url of [there, here]) await reportAll(url)
    expect(await Promise.all(USERS.map((userId) => exported(there, userId)))).toEqual(before)
    // The end of a session is heard by the process that holds it, whichever is told.
    for (const [n, userId] of USERS.entries())
      await report(n % 2 === 0 ? here : there, {
        gateway_id: `chat-of-${userId}`,
        disconnected: [{ user_id: userId, device_id: 'd1' }],
      })
    for (const userId of USERS)
      await until(WAIT_MS, `the end of ${userId}`, async () =>
        (await exported(there, userId)).every(({ state }) => state === 'closed'),
      )
  })

  for (const [how, signal] of [
    ['is killed', 'SIGKILL'],
    ['is stopped', 'SIGTERM'],
  ] as const) {
    test(
      `[C4, C7, C8, P15] no user is shown as gone when a process that holds sessions ${how}`,
      async () => {
        // Longer than a batch waits for a holder that does not answer.
        const { there, settings } = await pair({ gateway_lease_ms: 8_000, offline_delay_ms: 4_000 })
        const dying = await scene.process(settings)
        const alice = await scene.person(there, 'alice')
        await watch(alice, [...USERS, 'connected'])
        await scene.person(dying.url, 'connected')
        await reportAll(dying.url)
        for (const userId of [...USERS, 'connected']) await alice.sees(userId, isOnline)
        // Later than the phone, so that the order of the devices is not that of their names.
        await reportAll(dying.url, [PHONE, LAPTOP])
        for (const userId of USERS)
          await alice.sees(userId, ({ devices }) => `${devices}` === `${['web', 'mobile']}`)
        const since = alice.heard.length
        const sightings = () => USERS.map((userId) => alice.sightings(userId).map(({ presence }) => presence))
        const before = sightings()
        dying.signal(signal)
        const gone = alice.sees('connected', isOffline, { since, withinMs: 60_000 })
        let isOver = false
        void gone.finally(() => {
          isOver = true
        })
        // As a gateway does, which reports again and again, also after an answer that a process which died had to give.
        while (!isOver) {
          for (const userId of USERS)
            expect([200, 503]).toContain((await report(there, batchOf(userId, [PHONE, LAPTOP]))).status)
          await Bun.sleep(REPORT_EVERY_MS)
        }
        await gone
        expect(sightings()).toEqual(before)
      },
      TEST_MS_MAX,
    )
  }

  test(
    '[C4, P15] a process that joins takes over sessions: each stays one session, and nothing of a user changes',
    async () => {
      const { here, there, settings } = await pair({ gateway_lease_ms: 5_000 })
      const alice = await scene.person(there, 'alice')
      await watch(alice, MANY_USERS)
      await reportAll(here, [PHONE], MANY_USERS)
      await reportAll(here, [PHONE, LAPTOP], MANY_USERS)
      for (const userId of MANY_USERS)
        await alice.sees(userId, ({ devices }) => `${devices}` === `${['web', 'mobile']}`)
      const heard = alice.heard.length
      const sessionsOfAll = () => Promise.all(MANY_USERS.map((userId) => exported(there, userId)))
      const before = (await sessionsOfAll()).flat()
      await scene.process(settings)
      await until(WAIT_MS, 'sessions to have moved', async () => {
        await reportAll(there, [PHONE, LAPTOP], MANY_USERS)
        const now = await sessionsOfAll()
        const known = new Set(before.map(({ session_id }) => session_id))
        const moved = now.flat().filter(({ session_id }) => !known.has(session_id))
        return moved.length > 0 && now.every((sessions) => sessions.length === 2)
      })
      expect(alice.heard).toHaveLength(heard)
    },
    TEST_MS_MAX,
  )

  test('[D2, D8] a device that leaves by another process ends there too, and can come back', async () => {
    const { here, there } = await pair()
    const socket = await scene.person(here, 'bob', { deviceId: 'phone' })
    const beat = { device_id: 'phone', activity: 'active' }
    expect((await call(here, 'dev:bob', 'POST', '/api/v1/heartbeat', beat)).status).toBe(200)
    expect((await call(there, 'dev:bob', 'POST', '/api/v1/leave', { device_id: 'phone' })).status).toBe(204)
    expect((await socket.closed).code).toBe(CLOSE.left)
    expect((await call(here, 'dev:bob', 'POST', '/api/v1/heartbeat', beat)).status).toBe(200)
    await until(WAIT_MS, 'bob to be back', async () => {
      const { body } = await call<{ status: string }>(here, 'dev', 'GET', '/api/v1/presence/bob')
      return body.status === 'online'
    })
  })

  test('[C6] a disconnect ends connections and refuses tokens on every process', async () => {
    const { here, there } = await pair({ ...securedSettings, offline_delay_ms: 600_000 })
    const old = sign({ sub: 'bob', exp: secondsFromNow(3_600), iat: secondsFromNow(-60) })
    const bobs = [
      await scene.person(here, 'bob', { token: old }),
      await scene.person(there, 'bob', { token: old }),
    ]
    const path = '/api/v1/users/bob/disconnect'
    const body = { reason: 'signed out', until: '2099-01-01' }
    expect((await call(here, SERVER_KEY, 'POST', path, body)).status).toBe(204)
    for (const bob of bobs) {
      expect(await bob.next('error')).toMatchObject({ code: 'forbidden', message: 'signed out' })
      expect((await bob.closed).code).toBe(CLOSE.disconnected)
    }
    for (const url of [here, there])
      expect((await call(url, old, 'GET', '/api/v1/presence/bob')).status).toBe(401)
    const fresh = sign({ sub: 'bob', exp: secondsFromNow(3_600), iat: secondsFromNow(60) })
    const back = await scene.person(there, 'bob', { token: fresh })
    expect(back.welcome.self.sessions).toHaveLength(1)
  })
})
