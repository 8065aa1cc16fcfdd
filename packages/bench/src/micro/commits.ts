// Commits to Redis through the store, beside the bare script: the same calls with the same arguments,
// pipelined by the client library, with nothing but the new revisions put in between. And commits that leave a duty,
// which is cleared once it is done, and commits that put a record into the change log, beside commits that do neither.
import type { Activity } from '@greendot/protocol'
import { groupByShard } from '../../../server/src/platform/shards.ts'
import { changeRecordOf } from '../../../server/src/presence/pipeline/change-record.ts'
import type { Commit, OpenDuty, Owed } from '../../../server/src/store/port.ts'
import { encodeRecord, headOf } from '../../../server/src/store/redis-record.ts'
import { COMMIT, COMMIT_FIELDS } from '../../../server/src/store/redis-scripts.ts'
import { costOfLog, type Going } from './log-costs.ts'
import { type Micro, type Reading, type Scale, type Side, sideBySide } from './measure.ts'
import { missingRedis, type OwnRedis, withRedis } from './setup/redis.ts'
import { arrived, userName } from './setup/users.ts'

const USERS = 20_000
/** Users a tracker commits together when it is busy; like the tracker, one batch at a time. */
const BATCH = 500
const REVISION_FIELD = 1
const ANSWERS_PER_COMMIT = 3

export const commits: Micro = {
  name: 'commits',
  about: 'commits to Redis, beside the bare script with the same arguments',
  missing: missingRedis,
  run: (scale) => withRedis((redis) => measure(redis, scale)),
}

async function measure(redis: OwnRedis, { rounds, roundMs }: Scale): Promise<Reading[]> {
  const reading = { unit: 'commits a second', rounds }
  const plain = committing(redis, USERS)
  const logged = committing(redis, 4 * USERS, { isLogged: true })
  const ours = perSecond(roundMs, plain)
  const bare = perSecond(roundMs, await scripting(redis, 2 * USERS))
  const owing = perSecond(roundMs, committing(redis, 3 * USERS, { owed: { duties: ['announce'], since: 0 } }))
  const logging = perSecond(roundMs, logged)
  return [
    await sideBySide({ ...reading, name: 'commits to Redis' }, ours, bare),
    await sideBySide({ ...reading, name: 'commits with a duty' }, owing, ours),
    await sideBySide({ ...reading, name: 'commits with a log record' }, logging, ours),
    ...(await costOfLog(redis, rounds, logged, plain)),
  ]
}

const perSecond =
  (roundMs: number, going: Going): Side =>
  async () => {
    const before = going.done
    const startedAt = performance.now()
    while (performance.now() - startedAt < roundMs) await going.batch()
    return ((going.done - before) / (performance.now() - startedAt)) * 1000
  }

/** All users exist already after the first round, so all sides only change records. */
function committing(
  { store }: OwnRedis,
  firstUser: number,
  { owed, isLogged = false }: { owed?: Owed; isLogged?: boolean } = {},
): Going {
  const batches = Array.from({ length: USERS / BATCH }, (_, batch) =>
    Array.from({ length: BATCH }, (_, step) => {
      const user = firstUser + batch * BATCH + step
      const [active, idle] = [arrived(user, 'active'), arrived(user, 'idle')]
      const unset = { dueAt: null, retainUntil: null }
      const userId = userName(user)
      return {
        active,
        idle,
        // Records of this kind differ in their version.
        logged: isLogged
          ? changeRecordOf({ userId, before: idle, after: { ...active, version: idle.version + 1 } }, 0)
          : undefined,
        commit: {
          userId,
          expectedRevision: 0,
          record: active,
          ...unset,
          ...(owed && { owed }),
        },
      }
    }),
  )
  let next = 0
  let clearing: Promise<void> | undefined
  const going: Going = {
    done: 0,
    async batch() {
      const isIdle = Math.floor(next / batches.length) % 2 === 1
      const batch = batches[next++ % batches.length]!
      for (const { commit, active, idle } of batch) commit.record = isIdle ? idle : active
      const results = await store.commit(
        batch.map(({ commit, logged }) => (logged === undefined ? commit : { ...commit, logged })),
      )
      for (const [index, result] of results.entries()) {
        if (result.outcome === 'conflict') throw new Error('a commit conflicts although there is one writer')
        batch[index]!.commit.expectedRevision = result.revision
      }
      // As in the server, the next commits do not wait for it.
      await clearing
      if (owed !== undefined) clearing = store.clearDuties('announce', batch.map(toDuty))
      going.done += BATCH
    },
  }
  return going
}

const toDuty = ({ commit }: { commit: Commit }): OpenDuty => ({
  userId: commit.userId,
  revision: commit.expectedRevision,
})

/** The commits of one shard in a call. */
interface Part {
  key: string
  users: number
  active: string[]
  idle: string[]
}

async function scripting({ store, bare }: OwnRedis, firstUser: number): Promise<Going> {
  await bare.script('LOAD', COMMIT.lua)
  const batches = Array.from({ length: USERS / BATCH }, (_, batch) => {
    const users = Array.from({ length: BATCH }, (_, step) => firstUser + batch * BATCH + step)
    const groups = groupByShard(users, userName, store.shardCount, COMMIT.usersMax)
    return callsOf(
      groups.map(({ shard, items }) => ({
        key: `{s${shard}}:`,
        users: items.length,
        active: items.flatMap((user) => argumentsOf(user, 'active')),
        idle: items.flatMap((user) => argumentsOf(user, 'idle')),
      })),
    )
  })
  let next = 0
  const going: Going = {
    done: 0,
    async batch() {
      const isIdle = Math.floor(next / batches.length) % 2 === 1
      const calls = batches[next++ % batches.length]!
      const pipeline = bare.pipeline()
      for (const parts of calls) {
        const args = parts.flatMap(({ key, active, idle }) => {
          const fields = isIdle ? idle : active
          return [key, fields.length, ...fields]
        })
        pipeline.evalsha(COMMIT.sha, 1, parts[0]!.key, ...args)
      }
      const answers = (await pipeline.exec()) ?? []
      for (const [index, [error, answer]] of answers.entries()) {
        if (error !== null) throw error
        for (const [part, revisions] of (answer as number[][]).entries())
          putRevisions(calls[index]![part]!, revisions)
      }
      going.done += BATCH
    },
  }
  return going
}

/** As many parts in a call as the store puts there. */
function callsOf(parts: readonly Part[]): Part[][] {
  const calls: Part[][] = []
  let users = COMMIT.usersMax
  for (const part of parts) {
    users += part.users
    if (users > COMMIT.usersMax) {
      calls.push([])
      users = part.users
    }
    calls.at(-1)!.push(part)
  }
  return calls
}

function putRevisions({ active, idle }: Part, answers: readonly number[]): void {
  for (let at = 0; at < active.length; at += COMMIT_FIELDS) {
    const revision = String(answers[(at / COMMIT_FIELDS) * ANSWERS_PER_COMMIT])
    if (revision === '0') throw new Error('a commit conflicts although there is one writer')
    active[at + REVISION_FIELD] = revision
    idle[at + REVISION_FIELD] = revision
  }
}

/** The duties of a commit without any, as the script reads them. */
const NO_DUTIES = '0'

function argumentsOf(user: number, activity: Activity): string[] {
  const record = arrived(user, activity)
  return [userName(user), '0', headOf(record), encodeRecord(record), '', '', NO_DUTIES, '']
}
