// Who is in whose contact list, looked up many pairs at a time. An answer is cached for a minute and for
// one edition of the list (`contactsAt` of its owner), so an edit makes it void at once. When the archive
// does not answer, no user counts as a contact and the result says that it is a guess.
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { createRecentMap } from '../../platform/recent-map.ts'
import type { Evaluator } from './evaluator.ts'
import type { Party, Relation } from './visibility.ts'

export type { Party } from './visibility.ts'

/** Shorter than the hot store remembers when a list was edited. */
const CACHED_MS = 60_000
const CACHED_MAX = 200_000

export interface RelationAnswer {
  relation: Relation
  /** The archive did not answer: both parts are taken as no. */
  isGuess: boolean
}

export const STRANGERS: RelationAnswer = {
  relation: { viewerIsContact: false, targetIsContact: false },
  isGuess: false,
}

export interface Relations {
  /** As far as it makes a difference. Asked together with all others of this turn of the loop. */
  between(target: Party, viewer: Party): Promise<RelationAnswer>
  /**
   * The same between each target and one viewer, asked at once; in their order. `isFresh` skips the cache:
   * for callers that do not know the present edition of a list.
   */
  betweenMany(
    targets: readonly Party[],
    viewer: Party,
    options?: { isFresh: boolean },
  ): Promise<RelationAnswer[]>
  /** For when edits may have been missed, or the editions start again. */
  clearCache(): void
}

interface Question {
  ownerId: string
  contactId: string
  contactsAt: number
}

/** Null where the archive does not answer. */
type Answers = readonly (boolean | null)[]

/** What is known of one relation, or the position of the question about it. */
type Part = boolean | { question: number }

export interface RelationsParts {
  archive: Archive
  evaluator: Evaluator
  clock: Clock
  logger: Logger
}

export function createRelations({ archive, evaluator, clock, logger }: RelationsParts): Relations {
  const newCache = () =>
    createRecentMap<{ contactsAt: number; isContact: boolean; until: number }>(CACHED_MAX, CACHED_MS)
  let cache = newCache()
  let gathered: { questions: readonly Question[]; resolve(answers: Answers): void }[] = []
  let isFailing = false

  // Ids hold no white space, so two of them never run into each other.
  const keyOf = ({ ownerId, contactId }: Question) => `${ownerId} ${contactId}`

  async function ask(questions: readonly Question[]): Promise<Answers> {
    // An answer from before `clearCache` must not get into the new cache.
    const filled = cache
    try {
      const answers = await archive.areContacts(questions)
      isFailing = false
      const now = clock.now()
      const until = now + CACHED_MS
      for (const [index, question] of questions.entries()) {
        const { contactsAt } = question
        filled.set(keyOf(question), { contactsAt, isContact: answers[index]!, until }, now)
      }
      return answers
    } catch (error) {
      if (!isFailing)
        logger.error(
          { err: error },
          'contact lists cannot be read; no user counts as a contact until they can',
        )
      isFailing = true
      return questions.map(() => null)
    }
  }

  async function askGathered(): Promise<void> {
    const batch = gathered
    gathered = []
    const answers = await ask(batch.flatMap(({ questions }) => questions))
    let from = 0
    for (const { questions, resolve } of batch) {
      resolve(answers.slice(from, from + questions.length))
      from += questions.length
    }
  }

  /** One query for a whole turn of the loop: many users connect together. */
  function askSoon(questions: readonly Question[]): Promise<Answers> {
    return new Promise((resolve) => {
      if (gathered.length === 0) clock.soon(() => void askGathered())
      gathered.push({ questions, resolve })
    })
  }

  /** The cached answer, or a question added to those to ask. */
  function partOf(owner: Party, contact: Party, questions: Question[], isFresh: boolean, now: number): Part {
    const question = { ownerId: owner.userId, contactId: contact.userId, contactsAt: owner.contactsAt }
    const cached = isFresh ? undefined : cache.get(keyOf(question))
    if (cached !== undefined && cached.contactsAt === question.contactsAt && cached.until > now)
      return cached.isContact
    return { question: questions.push(question) - 1 }
  }

  async function lookUp(
    targets: readonly Party[],
    viewer: Party,
    isFresh: boolean,
    askAll: (questions: readonly Question[]) => Promise<Answers>,
  ): Promise<RelationAnswer[]> {
    const now = clock.now()
    const questions: Question[] = []
    const parts = targets.map((target): [viewerIs: Part, targetIs: Part] => {
      const needed = evaluator.relevantRelation(target, viewer)
      return [
        needed.viewerIsContact && partOf(target, viewer, questions, isFresh, now),
        needed.targetIsContact && partOf(viewer, target, questions, isFresh, now),
      ]
    })
    const answers = questions.length === 0 ? [] : await askAll(questions)
    const found = (part: Part) => (typeof part === 'boolean' ? part : answers[part.question]!)
    return parts.map(([viewerIs, targetIs]) => {
      const [viewerIsContact, targetIsContact] = [found(viewerIs), found(targetIs)]
      return {
        relation: { viewerIsContact: viewerIsContact ?? false, targetIsContact: targetIsContact ?? false },
        isGuess: viewerIsContact === null || targetIsContact === null,
      }
    })
  }

  return {
    between: async (target, viewer) => (await lookUp([target], viewer, false, askSoon))[0]!,
    betweenMany: (targets, viewer, options) => lookUp(targets, viewer, options?.isFresh ?? false, ask),
    clearCache() {
      cache = newCache()
    },
  }
}
