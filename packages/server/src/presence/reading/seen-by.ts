// Reading presence through somebody's eyes: what a user, anybody at all, or the app itself sees of these
// people right now. Everything that is answered by HTTP comes through here, so nothing reaches a viewer
// that the evaluator did not allow.
import type { QueriedPresence, Source } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import { type PrivacyRules, UNGUARDED } from '../core/privacy.ts'
import { isBare, type UserRecord } from '../core/record.ts'
import { isBlank, sourceOf, toPresence, unknownPresence } from '../core/view.ts'
import { asSeen } from '../privacy/as-seen.ts'
import type { Between, Party, Relations } from '../privacy/relations.ts'
import { isOpenToAll, type Relation, type Sight, type Viewer, visibleTo } from '../privacy/visibility.ts'
import { createPresenceText } from './presence-text.ts'
import type { Answer, Reader } from './reader.ts'

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
  /** The hot store did not answer: this is what the archive knows. */
  isDegraded: boolean
}

export interface SeenBy {
  look(eyes: Eyes, userIds: readonly string[]): Promise<SeenAnswer>
  /** The same as the JSON of a list: long lists are asked for often, and most of it has been said before. */
  lookInJson(eyes: Eyes, userIds: readonly string[]): Promise<{ json: string; isDegraded: boolean }>
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
  const textOf = createPresenceText(rules)
  /**
   * How much is seen of each; those nobody has heard of are the same to everybody. For their sake the
   * same is asked as for people who hide, so that they take as long.
   */
  async function sightsOf(
    eyes: Eyes,
    userIds: readonly string[],
    { records, isDegraded }: Answer,
  ): Promise<Sight[]> {
    const sights = new Array<Sight>(userIds.length).fill('everything')
    if (eyes.of === 'app') return sights
    const guarded: number[] = []
    let nobody = -1
    // One walk: with a thousand people, every other one would take as long as all that is decided here.
    for (let index = 0; index < userIds.length; index++) {
      const record = records[index] ?? null
      if (nobody === -1 && (record === null || isBlank(record.shown))) nobody = index
      if (record !== null && !isOpenToAll(record.privacy, rules)) guarded.push(index)
    }
    if (guarded.length === 0 && nobody === -1) return sights
    const viewer = await partyBehind(eyes)
    const targets = guarded.map((index) => partyOf(userIds[index]!, records[index]!))
    const pretendedId = nobody === -1 ? null : userIds[nobody]!
    // Without the hot store nobody knows whether a list was edited since.
    const found =
      viewer && (await relations.betweenMany(targets, viewer, { isAnew: isDegraded, pretendedId }))
    for (const [position, target] of targets.entries()) {
      // A guess is a no, and nothing says that it is one: that there was something to find out tells.
      const { relation } = found?.[position] ?? STRANGERS
      sights[guarded[position]!] = visibleTo(target, viewer, relation, rules).sight
    }
    return sights
  }

  async function partyBehind(eyes: Eyes): Promise<Party | null> {
    if (eyes.of !== 'user') return null
    const { records } = await reader.readOwn(eyes.userId)
    return partyOf(eyes.userId, records[0] ?? null)
  }

  const query = (eyes: Eyes, userIds: readonly string[]) =>
    reader.query(userIds, eyes.of === 'user' ? eyes.userId : null)

  function present(
    userId: string,
    record: UserRecord | null,
    sight: Sight,
    source?: Source,
  ): QueriedPresence {
    if (record === null || sight === 'nothing') {
      return { ...unknownPresence(userId, rules.hiddenAs), source: 'db' }
    }
    const seen = asSeen(toPresence(userId, record), sight, rules, clock.now())
    return { ...seen, source: source ?? sourceOf(record) }
  }

  return {
    async look(eyes, userIds) {
      const answer = await query(eyes, userIds)
      const { records, isDegraded } = answer
      const sights = await sightsOf(eyes, userIds, answer)
      const source = isDegraded ? 'db' : undefined
      const found = userIds.map((userId, at) => present(userId, records[at] ?? null, sights[at]!, source))
      return { found, isDegraded }
    },
    async lookInJson(eyes, userIds) {
      const answer = await query(eyes, userIds)
      const { records, isDegraded } = answer
      const sights = await sightsOf(eyes, userIds, answer)
      const source = isDegraded ? 'db' : undefined
      const texts = userIds.map((userId, at) => {
        const record = records[at] ?? null
        const isWhole = record !== null && sights[at] === 'everything' && !isDegraded
        return isWhole ? textOf(userId, record) : JSON.stringify(present(userId, record, sights[at]!, source))
      })
      return { json: `[${texts.join(',')}]`, isDegraded }
    },
    async scene(eyes, userId) {
      const { records, isDegraded } = await reader.readAnew([userId])
      const found = records[0] ?? null
      const record = found === null || isBare(found) ? null : found
      const viewer = await partyBehind(eyes)
      const how = { isAnew: true, pretendedId: null }
      const between = viewer && (await relations.betweenMany([partyOf(userId, record)], viewer, how))
      return { record, viewer, isDegraded, ...(between?.[0] ?? STRANGERS) }
    },
  }
}
