// Reads presence as a given viewer: a user, an anonymous caller, or the app's backend. Everything that HTTP
// answers comes through here, so nothing reaches a viewer that the evaluator did not allow.
import type { Presence, QueriedPresence, Source } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import { PRIVACY_UNKNOWN, type PrivacyRules, UNRESTRICTED } from '../core/privacy.ts'
import { isBare, type UserRecord } from '../core/record.ts'
import { sourceOf, toPresence, unknownPresence } from '../core/view.ts'
import type { Evaluator } from '../privacy/evaluator.ts'
import { type Party, type RelationAnswer, type Relations, STRANGERS } from '../privacy/relations.ts'
import type { Viewer, ViewLevel } from '../privacy/visibility.ts'
import { createPresenceText } from './presence-text.ts'
import type { Answer, Reader } from './reader.ts'

/** The app sees the truth; an anonymous caller sees what everyone may see. */
export type ReadAs = { kind: 'app' } | { kind: 'anyone' } | { kind: 'user'; userId: string }

export interface ViewerAnswer {
  /** In the order asked. */
  found: QueriedPresence[]
  /** The hot store did not answer. */
  isDegraded: boolean
}

/** Everything that decides what a viewer sees of one target. */
export interface ViewContext extends RelationAnswer {
  record: UserRecord | null
  viewer: Viewer
  isDegraded: boolean
}

export interface ViewerReader {
  read(as: ReadAs, userIds: readonly string[]): Promise<ViewerAnswer>
  /** The same as the JSON of a list. Texts of whole records are made once and shared. */
  readJson(as: ReadAs, userIds: readonly string[]): Promise<{ json: string; isDegraded: boolean }>
  /** What decides what this viewer sees of one target, read past every cache. */
  context(as: ReadAs, userId: string): Promise<ViewContext>
  /** What this viewer sees of one target, read past every cache. Degraded: it may be another moment's. */
  seenBy(viewerId: string, userId: string): Promise<{ presence: Presence; isDegraded: boolean }>
}

export interface ViewerReaderParts {
  reader: Reader
  relations: Relations
  evaluator: Evaluator
  rules: PrivacyRules
  clock: Clock
}

function partyOf(userId: string, record: UserRecord | null): Party {
  if (record === null) return { userId, ...UNRESTRICTED }
  const { settings, privacy, contactsAt } = record
  return { userId, privacy: settings === 'unknown' ? PRIVACY_UNKNOWN : privacy, contactsAt }
}

export function createViewerReader(parts: ViewerReaderParts): ViewerReader {
  const { reader, relations, evaluator, rules, clock } = parts
  const textOf = createPresenceText(rules)

  /** How much the viewer sees of each target. */
  async function levelsOf(
    as: ReadAs,
    userIds: readonly string[],
    { records, isDegraded }: Answer,
  ): Promise<ViewLevel[]> {
    const levels = new Array<ViewLevel>(userIds.length).fill('everything')
    if (as.kind === 'app') return levels
    const restricted: number[] = []
    for (let index = 0; index < userIds.length; index++) {
      const record = records[index]
      if (record && !evaluator.isOpenToAll(record.privacy)) restricted.push(index)
    }
    if (restricted.length === 0) return levels
    const viewer = await viewerOf(as)
    const targets = restricted.map((index) => partyOf(userIds[index]!, records[index]!))
    // Without the hot store the present edition of a list is not known.
    const found = viewer && (await relations.betweenMany(targets, viewer, { isFresh: isDegraded }))
    for (const [position, target] of targets.entries()) {
      // A guess counts as no, and the answer does not say that there was something to guess.
      const { relation } = found?.[position] ?? STRANGERS
      levels[restricted[position]!] = evaluator.visibleTo(target, viewer, relation).level
    }
    return levels
  }

  async function viewerOf(as: ReadAs): Promise<Party | null> {
    if (as.kind !== 'user') return null
    const { records, isUnread } = await reader.read([as.userId])
    const record = records[0] ?? null
    // What the viewer chose cannot be read, so reciprocal users show this viewer nothing.
    if (record === null && isUnread) return { userId: as.userId, privacy: PRIVACY_UNKNOWN, contactsAt: 0 }
    return partyOf(as.userId, record)
  }

  function present(
    userId: string,
    record: UserRecord | null,
    level: ViewLevel,
    source?: Source,
  ): QueriedPresence {
    if (record === null || level === 'nothing')
      return { ...unknownPresence(userId, rules.hiddenAs), source: 'db' }
    const seen = evaluator.present(toPresence(userId, record), level, clock.now())
    return { ...seen, source: source ?? sourceOf(record) }
  }

  async function context(as: ReadAs, userId: string): Promise<ViewContext> {
    const { records, isDegraded } = await reader.read([userId])
    const found = records[0] ?? null
    // An erased user is a user that never came.
    const record = found === null || isBare(found) ? null : found
    const viewer = await viewerOf(as)
    const between =
      viewer && (await relations.betweenMany([partyOf(userId, record)], viewer, { isFresh: true }))
    return { record, viewer, isDegraded, ...(between?.[0] ?? STRANGERS) }
  }

  return {
    async read(as, userIds) {
      const answer = await reader.query(userIds)
      const { records, isDegraded } = answer
      const levels = await levelsOf(as, userIds, answer)
      const source = isDegraded ? 'db' : undefined
      const found = userIds.map((userId, at) => present(userId, records[at] ?? null, levels[at]!, source))
      return { found, isDegraded }
    },
    async readJson(as, userIds) {
      const answer = await reader.query(userIds)
      const { records, isDegraded } = answer
      const levels = await levelsOf(as, userIds, answer)
      const source = isDegraded ? 'db' : undefined
      const texts = userIds.map((userId, at) => {
        const record = records[at] ?? null
        const isWhole = record !== null && levels[at] === 'everything' && !isDegraded
        return isWhole ? textOf(userId, record) : JSON.stringify(present(userId, record, levels[at]!, source))
      })
      return { json: `[${texts.join(',')}]`, isDegraded }
    },
    context,
    async seenBy(viewerId, userId) {
      const { record, viewer, relation, isDegraded } = await context(
        { kind: 'user', userId: viewerId },
        userId,
      )
      if (record === null) return { presence: unknownPresence(userId, rules.hiddenAs), isDegraded }
      const { level } = evaluator.visibleTo(partyOf(userId, record), viewer, relation)
      return { presence: evaluator.present(toPresence(userId, record), level, clock.now()), isDegraded }
    },
  }
}
