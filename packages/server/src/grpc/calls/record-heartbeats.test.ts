// The stream of heartbeats, with sessions that answer as the test says: one entry must not decide about the others.
import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import type { HttpHeartbeat, HttpSessions } from '../../gateway/sessions/connections.ts'
import type { Caller } from '../../http/access/auth.ts'
import { createTally } from '../../platform/measuring/tally.ts'
import { POLICIES } from '../../presence/core/policy.ts'
import { Unavailable } from '../../presence/unavailable.ts'
import type { Call } from '../call.ts'
import { sessionCalls } from './sessions.ts'

const SESSIONS_PER_USER = 32
const BACKEND: Caller = { kind: 'server' } as Caller
const ALICE = { kind: 'user', userId: 'alice', expiresAt: null, issuedAt: null } as Caller

function createWorld(failsFor: (heartbeat: HttpHeartbeat) => Error | null = () => null) {
  const clock = createFakeClock(0)
  let asked = 0
  const httpSessions = {
    isTransition: () => true,
    async heartbeat(heartbeat: HttpHeartbeat) {
      const error = failsFor(heartbeat)
      if (error !== null) throw error
      return { ok: true, state: { awayAfterMs: 1, ownView: null } }
    },
  } as unknown as HttpSessions
  const throttle = {
    async failureFor() {
      asked++
      return null
    },
  }
  const calls = sessionCalls({
    foreign: { record: async () => [] },
    tally: createTally(),
    httpSessions,
    throttle,
    disconnects: { isRefused: () => false },
    sessionsPerUser: SESSIONS_PER_USER,
    policy: POLICIES.instant,
    clock,
    tokenClock: clock,
  })
  const open = (caller: Caller) => (calls.RecordHeartbeats as Extract<Call, { kind: 'upload' }>).open(caller)
  return { open, asked: () => asked }
}

const entry = (user_id: string, device_id = 'd') => ({
  user_id,
  device_id,
  platform: 'PLATFORM_WEB',
  activity: 'ACTIVITY_ACTIVE',
})
const message = (heartbeats: object[]) => ({ heartbeats, disconnected: [], gateway_id: '' })

describe('a stream of heartbeats', () => {
  test('[C5, C7] an entry that cannot be recorded now is refused, and the stream and the other entries go on', async () => {
    const { open } = createWorld(({ userId }) => (userId === 'bob' ? new Unavailable('away') : null))
    const stream = open(BACKEND)
    expect(await stream.take(message([entry('alice'), entry('bob'), entry('carol')]))).toBeNull()
    expect(await stream.take(message([entry('dave')]))).toBeNull()
    expect(stream.finish()).toMatchObject({
      accepted: 3,
      rejected: 1,
      rejections: [{ index: 1, code: 'unavailable' }],
    })
  })

  test('[C5] a failure of this server is no refusal', async () => {
    const { open } = createWorld(() => new TypeError('broken'))
    await expect(open(BACKEND).take(message([entry('alice')]))).rejects.toThrow('broken')
  })

  test('[C5] a user token takes no more entries in a message than a user has sessions', async () => {
    const { open, asked } = createWorld()
    const many = Array.from({ length: SESSIONS_PER_USER + 1 }, (_, n) => entry('', `d${n}`))
    expect(await open(ALICE).take(message(many))).toMatchObject({ code: 'too_many_ids' })
    expect(asked()).toBe(0)
    const fitting = many.slice(1).map(({ user_id: _, ...rest }) => ({ ...rest, user_id: 'alice' }))
    expect(await open(ALICE).take(message(fitting))).toBeNull()
    expect(asked()).toBe(SESSIONS_PER_USER)
    // A backend reports many users.
    expect(await open(BACKEND).take(message(many.map((one, n) => ({ ...one, user_id: `u${n}` }))))).toBeNull()
  })
})
