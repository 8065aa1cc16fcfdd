// What a viewer is answered, as a list and as JSON: the evaluator decides, and a hidden user is answered as an
// unknown one. With the real reader, relations and archive.
import { beforeEach, expect, test } from 'bun:test'
import { createPipeline, type Pipeline } from '../../../../../testing/worlds/presence-pipeline.ts'
import { aRecord, aRecordOn } from '../../../../../testing/worlds/records.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'
import { createEvaluator } from '../privacy/evaluator.ts'
import { createRelations } from '../privacy/relations.ts'
import { toLastSeenRow } from './archived-user.ts'
import { createViewerReader, type ReadAs, type ViewerReader } from './viewer-reader.ts'

const ALICE: ReadAs = { kind: 'user', userId: 'alice' }

let world: Pipeline
let isStoreAway: boolean
let viewerReader: ViewerReader

beforeEach(async () => {
  isStoreAway = false
  world = await createPipeline({
    store: (memory) => ({
      load: (userIds) => (isStoreAway ? Promise.reject(new Error('away')) : memory.load(userIds)),
    }),
  })
  const evaluator = createEvaluator(world.rules)
  const relations = createRelations({ ...world, evaluator })
  viewerReader = createViewerReader({ ...world, relations, evaluator })
})

async function put(userId: string, record: UserRecord): Promise<void> {
  await world.memory.commit([{ userId, expectedRevision: 0, record, dueAt: null, retainUntil: null }])
}

const online = (change: Partial<Privacy>): UserRecord => ({
  ...aRecordOn('g1'),
  shown: { ...aRecordOn('g1').shown, lastSeen: world.clock.now() },
  privacy: { ...NO_PRIVACY_CHOSEN, ...change, setAt: 1 },
})

/** The answer as a list, which must equal the answer as JSON. */
async function read(as: ReadAs, ...userIds: string[]) {
  const { found, isDegraded } = await world.done(viewerReader.read(as, userIds))
  const asJson = await world.done(viewerReader.readJson(as, userIds))
  expect([JSON.parse(asJson.json), asJson.isDegraded]).toEqual([found, isDegraded])
  return found
}

test('[S6] a hidden user is answered like an unknown one, except to the app', async () => {
  await put('bob', online({ statusVisibility: 'nobody' }))
  for (const as of [ALICE, { kind: 'anyone' } as const]) {
    const [hidden, unknown] = await read(as, 'bob', 'carol')
    expect({ ...hidden, user_id: '' }).toEqual({ ...unknown!, user_id: '' })
  }
  expect(await read({ kind: 'app' }, 'bob')).toMatchObject([{ status: 'online', source: 'live' }])
  expect(await read({ kind: 'user', userId: 'bob' }, 'bob')).toMatchObject([{ status: 'online' }])
})

test('[S5] each target is answered at its own level, in the order asked', async () => {
  await put('open', aRecordOn('g1'))
  await put('friend', online({ statusVisibility: 'contacts' }))
  await put('stranger', online({ statusVisibility: 'contacts' }))
  await put('vague', online({ lastSeenPrecision: 'approximate' }))
  await put('secretive', online({ lastSeenVisibility: 'nobody' }))
  await world.done(world.archive.addContacts('friend', ['alice'], 1))
  const found = await read(ALICE, 'stranger', 'open', 'secretive', 'friend', 'vague')
  expect(found.map(({ status }) => status)).toEqual(['offline', 'online', 'online', 'online', 'online'])
  expect(found.map(({ version }) => version === 0)).toEqual([true, false, false, false, false])
  expect([found[2]!.last_seen, found[4]!.last_seen_bucket]).toEqual([null, 'recently'])
})

test('[R3] a degraded answer comes from the archive and says so for every user', async () => {
  const record = aRecordOn('g1')
  await world.done(world.archive.writeLastSeen([toLastSeenRow('bob', record, world.clock.now())]))
  isStoreAway = true
  expect(await read(ALICE, 'bob', 'carol')).toMatchObject([
    { status: 'online', source: 'db' },
    { version: 0, source: 'db' },
  ])
  expect((await world.done(viewerReader.read(ALICE, ['bob']))).isDegraded).toBe(true)
})

test('[S7] the context has the record, the viewer and the relation, and no record of an erased user', async () => {
  await put('bob', online({ statusVisibility: 'contacts' }))
  await put('alice', online({ reciprocal: true }))
  await world.done(world.archive.addContacts('bob', ['alice'], 1))
  const context = await world.done(viewerReader.context(ALICE, 'bob'))
  expect(context).toMatchObject({
    record: { privacy: { statusVisibility: 'contacts' } },
    viewer: { userId: 'alice', privacy: { reciprocal: true } },
    relation: { viewerIsContact: true, targetIsContact: false },
    isGuess: false,
    isDegraded: false,
  })
  await put('erased', aRecord({ version: 9 }))
  const ofErased = await world.done(viewerReader.context({ kind: 'app' }, 'erased'))
  expect([ofErased.record, ofErased.viewer]).toEqual([null, null])
})
