// An owner of users is killed in the midst of ten thousand updates: another takes over, and the users come to what
// they would have come to without it. Nothing visible is missing or comes twice.
import { expect } from 'bun:test'
import { CHANGES_TOPIC, type StatusChangedRecord, UPDATES_TOPIC } from '@greendot/protocol'
import type { PresenceEvent } from '../../packages/server/src/presence/core/event.ts'
import { encodeUpdate } from '../../packages/server/src/streaming/update-record.ts'
import type { Scene } from '../e2e/scene.ts'
import { until } from '../services/within.ts'
import { connected, say } from '../worlds/presence-user.ts'
import { readAll, type StreamingServices } from './kafka-services.ts'

const USERS = 1_000
const ROUNDS = 10
const TAKE_OVER_MS_MAX = 60_000
/** The killed process is taken for dead after this, and so are its partitions. */
const LEASE_MS = 6_000

const USER_IDS = Array.from({ length: USERS }, (_, n) => `user-${n}`)

export async function killOwner(services: StreamingServices, scene: Scene): Promise<void> {
  const settings = { ...(await services.settings()), gateway_lease_ms: LEASE_MS }
  const victim = await scene.process({ ...settings, roles: 'presence' })
  await scene.process({ ...settings, roles: 'presence,fanout' })
  const changes = await readAll<StatusChangedRecord>(await services.openTopic(CHANGES_TOPIC))
  const updates = await services.openTopic(UPDATES_TOPIC)

  // Their gateway is alive: it has a lease that no test outlives.
  await services.redis.cli('ZADD', '{leases}:held', String(Date.now() + 3_600_000), 'g1')
  const send = (toEvent: (at: number) => PresenceEvent) => {
    const sentAt = Date.now()
    const update = { from: 'test', events: [toEvent(sentAt)], isRepeated: false, ref: null, sentAt }
    return updates.append(USER_IDS.map((userId) => ({ userId, text: encodeUpdate({ ...update, userId }) })))
  }
  await send((at) => connected('web#1', at))
  for (let round = 1; round < ROUNDS; round++) {
    await send((at) => say(`text ${round}`, at))
    if (round === ROUNDS / 2) await victim.kill()
  }

  const last = () => new Map(changes.values.map((change) => [change.user_id, change]))
  await until(TAKE_OVER_MS_MAX, 'the last change of every user', async () => {
    const texts = [...last().values()].map(({ custom_status }) => custom_status?.text)
    return texts.filter((text) => text === `text ${ROUNDS - 1}`).length === USERS
  })
  const byUser = Map.groupBy(changes.values, ({ user_id }) => user_id)
  for (const userId of USER_IDS) {
    // A record may come twice, as every consumer is told; a second change would have a version of its own.
    const ofUser = [...new Map(byUser.get(userId)!.map((change) => [change.version, change])).values()]
    const versions = ofUser.map(({ version }) => version)
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
    const texts = ofUser.map(({ custom_status }) => custom_status?.text ?? '')
    expect(texts).toEqual([...new Set(texts)].sort())
    expect(ofUser.every(({ new_status }) => new_status === 'online')).toBe(true)
    // Each change says what was shown before it.
    expect(ofUser.map(({ old_status }) => old_status)).toEqual(
      ofUser.map((_, index) => (index === 0 ? 'offline' : 'online')),
    )
  }
}
