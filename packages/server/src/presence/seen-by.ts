// Reading presence through somebody's eyes: what a user, anybody at all, or the app itself sees of these
// people right now. Everything that is answered by HTTP comes through here, so nothing reaches a viewer
// that the evaluator did not allow.
import type { QueriedPresence } from '@greendot/protocol'
import type { Clock } from '../platform/clock.ts'
import { asSeen } from './as-seen.ts'
import { type PrivacyRules, UNGUARDED } from './privacy.ts'
import type { Reader } from './reader.ts'
import { isBare, type UserRecord } from './record.ts'
import type { Between, Party, Relations } from './relations.ts'
import { sourceOf, toPresence, unknownPresence } from './view.ts'
import { isOpenToAll, type Relation, type Sight, type Viewer, visibleTo } from './visibility.ts'

/** The app sees the truth; somebody without a name sees what everybody may. */
export type Eyes = { of: 'app' } | { of: 'anyone' } | { of: 'user'; userId: string }

export interface SeenAnswer {
  /** In the order asked. */
  found: QueriedPresence[]
  /** The hot store did not answer. */
  isDegraded: boolean
}

export interface Scene {
  record: UserRecord | null
  viewer: Viewer
  relation: Relation
  /** The contact lists cannot be read, and nobody counts as a contact until they can. */
  isGuess: boolean
}

export interface SeenBy {
  look(eyes: Eyes, userIds: readonly string[]): Promise<SeenAnswer>
  /** Everything that decides what these eyes see of one person, read anew. */
  scene(eyes: Eyes, userId: string): Promise<Scene>
}

export interface SeenByParts {
  reader: Reader
  relations: Relations
  rules: PrivacyRules
  clock: Clock
}

const STRANGERS: Between = {
  relation: { viewerIsContact: false, targetIsContact: false },
  isGuess: false,
}

function partyOf(userId: string, record: UserRecord | null): Party {
  const { privacy, contactsAt } = record ?? UNGUARDED
  return { userId, privacy, contactsAt }
}

export function createSeenBy({ reader, relations, rules, clock }: SeenByParts): SeenBy {
  const between = async (target: Party, viewer: Party | null) =>
    viewer === null ? STRANGERS : relations.between(target, viewer)

  /** How much is seen of each; those nobody has heard of are the same to everybody. */
  async function sightsOf(
    eyes: Eyes,
    userIds: readonly string[],
    records: readonly (UserRecord | null)[],
  ): Promise<Sight[]> {
    const sights = userIds.map((): Sight => 'everything')
    if (eyes.of === 'app') return sights
    const guarded = userIds.flatMap((_, index) => {
      const record = records[index] ?? null
      return record === null || isOpenToAll(record.privacy, rules) ? [] : [{ index, record }]
    })
    if (guarded.length === 0) return sights
    const isReciprocal = guarded.some(({ record }) => record.privacy?.reciprocal === true)
    const viewer = await partyBehind(eyes, isReciprocal)
    await Promise.all(
      guarded.map(async ({ index, record }) => {
        const target = partyOf(userIds[index]!, record)
        // A guess is a no, and nothing says that it is one: that there was something to find out tells.
        const { relation } = await between(target, viewer)
        sights[index] = visibleTo(target, viewer, relation, rules).sight
      }),
    )
    return sights
  }

  async function partyBehind(eyes: Eyes, isPrivacyNeeded: boolean): Promise<Party | null> {
    if (eyes.of !== 'user') return null
    const { records } = isPrivacyNeeded ? await reader.query([eyes.userId]) : { records: [] }
    return partyOf(eyes.userId, records[0] ?? null)
  }

  return {
    async look(eyes, userIds) {
      const { records, isDegraded } = await reader.query(userIds)
      const sights = await sightsOf(eyes, userIds, records)
      const now = clock.now()
      const found = userIds.map((userId, index): QueriedPresence => {
        const record = records[index] ?? null
        const sight = sights[index]!
        if (record === null || sight === 'nothing') {
          return { ...unknownPresence(userId, rules.hiddenAs), source: 'db' }
        }
        const source = isDegraded ? 'db' : sourceOf(record)
        return { ...asSeen(toPresence(userId, record), sight, rules, now), source }
      })
      return { found, isDegraded }
    },
    async scene(eyes, userId) {
      const { records } = await reader.read([userId])
      const found = records[0] ?? null
      const record = found === null || isBare(found) ? null : found
      const viewer = await partyBehind(eyes, true)
      return { record, viewer, ...(await between(partyOf(userId, record), viewer)) }
    },
  }
}
