// After a restart of a server without a shared store, users who were present are taken to be present still.
// The server gets the same grace as a crashed gateway: a user who comes back within it was never shown as
// offline. Their sessions are restored as lost at the end of a lease, with the last moment the server was
// alive as the proof of life; the machine does the rest.
import type { Archive, ArchivedUser, HereDevice } from '../../archive/port.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { PresenceStore } from '../../store/port.ts'
import { isInvisible, nextDeadline, openView } from '../core/machine.ts'
import type { Policy } from '../core/policy.ts'
import { PRESUMED_GATEWAY, type Session, type UserRecord } from '../core/record.ts'
import { fromArchive, toLastSeenRow } from '../reading/archived-user.ts'

const USERS_PER_BATCH = 500
/** A server that dies marked itself alive less than this before. */
const ALIVE_MS_MAX = 10_000

export interface RestoreParts {
  archive: Archive
  store: PresenceStore
  policy: Policy
  leaseMs: number
  now: number
}

/** Returns how many users were present. */
export async function restore({ archive, store, policy, leaseMs, now }: RestoreParts): Promise<number> {
  const aliveAt = await archive.aliveAt()
  if (aliveAt === null) return 0
  // While the clock is behind, versions are counted from this mark. The next restart must count from a later one.
  if (now < aliveAt) await archive.markAlive(aliveAt + ALIVE_MS_MAX)
  const lostAt = now + leaseMs
  let restored = 0
  let userIds = await archive.hereIds('', USERS_PER_BATCH)
  while (userIds.length > 0) {
    const users = await archive.read(userIds)
    const commits = userIds.map((userId, index) => {
      const record = presumeHere(users[index]!, { aliveAt, lostAt, now, policy })
      const dueAt = nextDeadline(record, policy)
      return { userId, expectedRevision: 0, record, dueAt, retainUntil: null }
    })
    // A user who became invisible is offline without a change to come, so no later commit would correct the row.
    const hidden = commits.filter(({ record }) => record.shown.status === 'offline')
    await archive.writeLastSeen(hidden.map(({ userId, record }) => toLastSeenRow(userId, record, now)))
    await store.commit(commits)
    restored += userIds.length
    userIds = await archive.hereIds(userIds.at(-1)!, USERS_PER_BATCH)
  }
  return restored
}

/** Before a server stops: writes the devices of every user who is present, so that they can be restored. */
export async function rememberHere(
  archive: Archive,
  store: PresenceStore,
  gatewayId: string,
  now: number,
): Promise<void> {
  const userIds = await store.usersOf(gatewayId)
  for (const batch of chunksOf(userIds, USERS_PER_BATCH)) {
    const stored = await store.load(batch)
    const rows = batch.flatMap((userId, index) => {
      const record = stored[index]?.record
      const isHere = record !== undefined && record.shown.status !== 'offline'
      return isHere ? [toLastSeenRow(userId, record, now)] : []
    })
    await archive.writeLastSeen(rows)
  }
}

interface Circumstances {
  aliveAt: number
  lostAt: number
  now: number
  policy: Policy
  /** Other devices than those of the row may be connected: the row is written when the user arrives. */
  hasOthers?: boolean
}

/** No device has this id. */
const OTHER_DEVICE = ''

/** The record of a user whose row says that they were here, with sessions that are lost at an instant to come. */
export function presumeHere(user: ArchivedUser, circumstances: Circumstances): UserRecord {
  const { aliveAt, lostAt, now, policy, hasOthers = false } = circumstances
  // Versions are counted from the time. The clock may have been set back since they were shown.
  const before = fromArchive(user, now < aliveAt ? aliveAt + ALIVE_MS_MAX : now)
  const lastSeen = Math.max(before.lastSeen ?? 0, aliveAt)
  // A proof of life that is yet to come would let the user linger until then.
  const provenAt = Math.min(aliveAt, now)
  const devices = user.lastSeen?.devices ?? []
  const others = hasOthers ? devices.slice(0, 1) : []
  const presumed = [
    ...devices,
    ...others.map((device): HereDevice => ({ ...device, deviceId: OTHER_DEVICE, activity: 'idle' })),
  ]
  const sessions = presumed.map(
    (device, index): Session => ({
      id: `${PRESUMED_GATEWAY}-${index}`,
      ...device,
      gatewayId: PRESUMED_GATEWAY,
      connectedAt: provenAt,
      lastActiveAt: Math.min(lastSeen, now),
      eventAt: provenAt,
      end: { state: 'lost', since: lostAt, provenAt },
    }),
  )
  const here: UserRecord = { ...before, sessions, here: { state: 'here' }, lastSeen, settledAt: now }
  // The settings are written before the row: this user became invisible, and the row was never written.
  if (isInvisible(before, now)) return here
  // Gateways go on showing users when the store has lost its memory. Watchers need not be told of a user who is shown
  // as the row says.
  const shownLastSeen = hasOthers ? before.lastSeen : lastSeen
  return { ...here, shown: { ...openView(here, now, policy), since: lastSeen, lastSeen: shownLastSeen } }
}
