// A viewer who is not to be noticed, and of whom only the archive knows that, as after a restart: they leave
// nothing behind by which others could tell that they looked. With the real store and archive; only how often
// the archive is asked is looked at here.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { SOME_INSTANT as NOW, OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { POLICIES } from '../core/policy.ts'
import { NO_PRIVACY_CHOSEN } from '../core/privacy.ts'
import { emptyRecord, type UserRecord } from '../core/record.ts'
import { toLastSeenRow, toSettingsRow } from './hydrate.ts'
import { createReader, type Reader } from './reader.ts'
import { createRecall } from './recall.ts'

const logger = createLogger({ level: 'silent' })
const EMPTY = emptyRecord(7)
const AWAY: UserRecord = { ...EMPTY, lastSeen: NOW, shown: { ...EMPTY.shown, lastSeen: NOW } }
const LUNCH = { text: 'lunch', emoji: null, expiresAt: NOW + 3_600_000 }

const UNNOTICED: Record<string, UserRecord> = {
  hidden: { ...AWAY, privacy: { ...NO_PRIVACY_CHOSEN, statusVisibility: 'nobody', setAt: NOW } },
  invisible: { ...AWAY, availability: { status: 'invisible', expiresAt: null, setAt: NOW } },
}
const PEOPLE: Record<string, UserRecord> = {
  ...UNNOTICED,
  away: AWAY,
  lunching: {
    ...AWAY,
    customStatus: { ...LUNCH, setAt: NOW },
    shown: { ...AWAY.shown, customStatus: LUNCH },
  },
}

let clock: FakeClock
let store: PresenceStore
let archive: Archive
let reader: Reader
/** Whom the archive was asked about, question by question. */
let asked: string[][]

beforeEach(async () => {
  clock = createFakeClock(NOW)
  asked = []
  store = createMemoryStore()
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const people = Object.entries(PEOPLE)
  await archive.writeSettings(people.map(([userId, record]) => toSettingsRow(userId, record)))
  await archive.writeLastSeen(people.map(([userId, record]) => toLastSeenRow(userId, record, NOW)))
  const counting: Archive = {
    ...archive,
    read(userIds) {
      asked.push([...userIds])
      return archive.read(userIds)
    },
  }
  reader = createReader({
    store,
    loadForQuery: store.load,
    recall: createRecall(counting, clock, logger),
    policy: POLICIES.instant,
    rules: OPEN_RULES,
    clock,
    logger,
    cacheMs: 0,
    tick: () => {},
    isPending: () => false,
  })
})
afterEach(() => archive.close())

const isHot = async (userId: string) => (await store.load([userId]))[0] !== null

for (const viewer of Object.keys(UNNOTICED)) {
  for (const how of ['query', 'read'] as const) {
    describe(`a ${how} by somebody ${viewer}`, () => {
      const look = (userId: string, viewerId = viewer) => reader[how]([userId], viewerId)

      test('[S6] is asked each time, and spares nobody else the question', async () => {
        for (const _ of [1, 2]) {
          expect((await look('away')).records[0]?.shown.lastSeen).toBe(NOW)
          await look('nobody')
        }
        await look('away', 'ann')
        await look('nobody', 'ann')
        const aboutViewers = asked.filter((userIds) => userIds[0] === viewer || userIds[0] === 'ann')
        expect(aboutViewers).toEqual([[viewer], ['ann']])
        const others = asked.filter((userIds) => !aboutViewers.includes(userIds))
        expect(others).toEqual(
          Array(3)
            .fill([['away'], ['nobody']])
            .flat(),
        )
      })

      test('[S6] keeps nobody hot whom the look of somebody else would', async () => {
        await look('away')
        expect(await isHot('away')).toBe(false)
        await look('away', 'ann')
        expect(await isHot('away')).toBe(true)
      })

      test('[S3] keeps those hot of whom something is about to change: it ends on time', async () => {
        expect((await look('lunching')).records[0]?.shown.customStatus).toEqual(LUNCH)
        expect(await store.due(0, LUNCH.expiresAt, 10)).toEqual([
          { userId: 'lunching', dueAt: LUNCH.expiresAt },
        ])
      })
    })
  }
}
