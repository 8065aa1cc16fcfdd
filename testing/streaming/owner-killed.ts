// An owner of users is killed in the midst of ten thousand updates: another takes over, and every user comes to exactly
// what the updates imply, in what is shown and in the row of last seen. The machine itself, fed with the same events one
// by one, says what that is. Nothing visible comes twice.
import { expect } from 'bun:test'
import {
  CHANGES_TOPIC,
  PLATFORMS,
  type Presence,
  type StatusChangedRecord,
  UPDATES_TOPIC,
} from '@greendot/protocol'
import { createPostgresArchive } from '../../packages/server/src/archive/postgres.ts'
import type { PresenceEvent } from '../../packages/server/src/presence/core/event.ts'
import { POLICIES } from '../../packages/server/src/presence/core/policy.ts'
import { encodeUpdate } from '../../packages/server/src/streaming/update-record.ts'
import type { SettingsInput } from '../clients/server.ts'
import { call, type Scene } from '../e2e/scene.ts'
import { until } from '../services/within.ts'
import { connected, createUser, say } from '../worlds/presence-user.ts'
import { readAll, type StreamingServices } from './kafka-services.ts'

const USERS = 1_000
const ROUNDS = 10
const TAKE_OVER_MS_MAX = 60_000
/** The killed process is taken for dead after this, and so are its partitions. */
const LEASE_MS = 6_000
/** Clocks of one machine differ by less, so no event is ahead of its owner. */
const SENT_BEFORE_MS = 500

const DEVICES = PLATFORMS.slice(0, 4)
const USER_IDS = Array.from({ length: USERS }, (_, n) => `user-${n}`)

/** First a device on each of some platforms, then texts; half of the users leave in the end. A lost event would be seen. */
function eventOf(userNumber: number, round: number, at: number): PresenceEvent {
  const platform = DEVICES[round]
  if (platform !== undefined) return connected(`${platform}#1`, at)
  if (round === ROUNDS - 1 && userNumber % 2 === 0) return { type: 'user_left', at }
  return say(`text ${round}`, at)
}

type Shown = Pick<Presence, 'user_id' | 'status' | 'devices' | 'custom_status' | 'last_seen'>
const shownOf = ({ user_id, status, devices, custom_status, last_seen }: Presence): Shown => ({
  user_id,
  status,
  devices,
  custom_status,
  last_seen,
})

export async function killOwner(services: StreamingServices, scene: Scene): Promise<void> {
  const settings: SettingsInput = { ...(await services.settings()), gateway_lease_ms: LEASE_MS }
  const victim = await scene.process({ ...settings, roles: 'presence' })
  const heir = await scene.process({ ...settings, roles: 'presence,fanout' })
  const changes = await readAll<StatusChangedRecord>(await services.openTopic(CHANGES_TOPIC))
  const updates = await services.openTopic(UPDATES_TOPIC)
  const archive = await createPostgresArchive({ url: String(settings.database_url), poolMax: 1 })
  scene.onEnd(() => archive.close())

  // Their gateway is alive: it has a lease that no test outlives.
  await services.redis.cli('ZADD', '{leases}:held', String(Date.now() + 3_600_000), 'g1')
  const models = USER_IDS.map(() => createUser(POLICIES.instant))
  const expected: Shown[] = []
  let at = 0
  for (let round = 0; round < ROUNDS; round++) {
    at = Math.max(at + 1, Date.now() - SENT_BEFORE_MS)
    const records = USER_IDS.map((userId, n) => {
      const events = [eventOf(n, round, at)]
      expected[n] = { ...shownOf(models[n]!.at(at, ...events)), user_id: userId }
      const update = { userId, from: 'test', events, isRepeated: false, ref: null, sentAt: at }
      return { userId, text: encodeUpdate(update) }
    })
    await updates.append(records)
    if (round === ROUNDS / 2) await victim.kill()
  }

  const shown = async (): Promise<Shown[]> => {
    const body = { user_ids: USER_IDS }
    const answer = await call<Presence[]>(heir.url, 'dev', 'POST', '/api/v1/presence/query', body)
    return answer.body.map(shownOf)
  }
  const last = () => new Map(changes.values.map((change) => [change.user_id, change]))
  await until(TAKE_OVER_MS_MAX, 'the last change of every user', async () => {
    const newest = last()
    return expected.every(({ user_id, status, custom_status }) => {
      const change = newest.get(user_id)
      return change?.new_status === status && change.custom_status?.text === custom_status?.text
    })
  })
  expect(await shown()).toEqual(expected)
  checkChanges(changes.values)

  const rows = async () => (await archive.read(USER_IDS)).map(({ lastSeen }) => lastSeen)
  // What the killed process did not write is written by a sweeper.
  await until(TAKE_OVER_MS_MAX, 'the rows of all users', async () =>
    (await rows()).every(
      (row, n) => row?.status === (expected[n]!.status === 'offline' ? 'offline' : 'here'),
    ),
  )
  for (const [n, row] of (await rows()).entries()) {
    const { user_id, status, custom_status, last_seen } = expected[n]!
    const { version } = last().get(user_id)!
    // The row of a user who is here is of the arrival, or of a later moment.
    if (status !== 'offline') expect(row!.version).toBeLessThanOrEqual(version)
    else {
      expect(row).toMatchObject({ version, devices: [], lastSeenAt: last_seen })
      expect(row!.shownCustomStatus?.text).toBe(custom_status!.text!)
    }
  }
}

/** A record may come twice, as every consumer is told; a second change would have a version of its own. */
function checkChanges(all: readonly StatusChangedRecord[]): void {
  const byUser = Map.groupBy(all, ({ user_id }) => user_id)
  for (const userId of USER_IDS) {
    const ofUser = [...new Map(byUser.get(userId)!.map((change) => [change.version, change])).values()]
    const versions = ofUser.map(({ version }) => version)
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
    const looks = ofUser.map(({ new_status, devices, custom_status }) =>
      JSON.stringify([new_status, devices, custom_status]),
    )
    expect(looks).toEqual([...new Set(looks)])
    const texts = ofUser.map(({ custom_status }) => custom_status?.text ?? '')
    expect(texts).toEqual([...texts].sort())
    // Each change says what was shown before it.
    const statuses = ofUser.map(({ new_status }) => new_status)
    expect(ofUser.map(({ old_status }) => old_status)).toEqual(['offline', ...statuses.slice(0, -1)])
  }
}
