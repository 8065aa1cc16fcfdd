// Who is in whose contact list, asked many at a time. A yes is remembered for a moment, for one edition
// of the list (`contactsAt` of its owner), so that an edit makes it void at once, wherever it is
// remembered. A no is asked every time, and so is whoever is hidden anyway: how long an answer takes must
// not tell nobody at all from somebody who hides. What cannot be found out is null: whoever asked must
// take it for a no and ask again.
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import { createRecentMap } from '../recent-map.ts'
import { type Person, type Relation, relevantRelation, visibleTo } from './visibility.ts'

/** Shorter than the hot store remembers when a list was edited. */
const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 200_000

/** Somebody with a contact list, and the edition of it that is asked about. */
export interface Party extends Person {
  contactsAt: number
}

const STRANGERS: Relation = { viewerIsContact: false, targetIsContact: false }

export interface Between {
  relation: Relation
  /** The archive does not answer: it is taken for a no. */
  isGuess: boolean
}

export interface Relations {
  /** What lies between the two, as far as it makes a difference. Asked together with all of this turn. */
  between(target: Party, viewer: Party): Promise<Between>
  /** The same between each of many and one viewer, asked at once; in their order. */
  betweenMany(targets: readonly Party[], viewer: Party, how: Asking): Promise<Between[]>
  /** Asks as `between` does for somebody hidden, though there is nobody: done when that is answered. */
  pretend(targetId: string, viewerId: string): Promise<void>
  /** Lists may have been edited without our hearing of it, or their editions counted anew. */
  forget(): void
}

export interface Asking {
  /** By what the archive says now: for whoever does not know the edition of a list, or wants to be sure. */
  isAnew: boolean
  /** Somebody who is asked about as well, though there is nobody; null for none. */
  pretendedId: string | null
}

interface Question {
  ownerId: string
  contactId: string
  contactsAt: number
}

/** Null where the archive does not answer. */
type Answers = readonly (boolean | null)[]

interface Waiting {
  questions: readonly Question[]
  resolve(answers: Answers): void
}

/** What is known of one relation, or the question whose answer it is. */
type Sought = boolean | { question: number }

export interface RelationsParts {
  archive: Archive
  rules: PrivacyRules
  clock: Clock
  logger: Logger
}

export function createRelations({ archive, rules, clock, logger }: RelationsParts): Relations {
  let remembered = createRecentMap<{ contactsAt: number; until: number }>(REMEMBERED_MAX)
  let waiting: Waiting[] = []
  let isFailing = false

  // Ids hold no white space, so two of them never run into each other.
  const keyOf = ({ ownerId, contactId }: Question) => `${ownerId} ${contactId}`

  function isRemembered(question: Question, now: number): boolean {
    const known = remembered.get(keyOf(question))
    return known !== undefined && known.contactsAt === question.contactsAt && known.until > now
  }

  function remember(question: Question, now: number): void {
    remembered.set(keyOf(question), { contactsAt: question.contactsAt, until: now + REMEMBERED_MS })
  }

  async function ask(questions: readonly Question[]): Promise<Answers> {
    try {
      const answers = await archive.areContacts(questions)
      isFailing = false
      const now = clock.now()
      for (const [index, question] of questions.entries()) {
        if (answers[index]!) remember(question, now)
        else remembered.delete(keyOf(question))
      }
      return answers
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'contacts cannot be read; people who show only those hide')
      isFailing = true
      return questions.map(() => null)
    }
  }

  /** Asks for everything that came up in this turn of the loop at once: a crowd connects together. */
  async function askGathered(): Promise<void> {
    const gathered = waiting
    waiting = []
    const answers = await ask(gathered.flatMap(({ questions }) => questions))
    let from = 0
    for (const { questions, resolve } of gathered) {
      resolve(answers.slice(from, from + questions.length))
      from += questions.length
    }
  }

  function gather(questions: readonly Question[]): Promise<Answers> {
    return new Promise((resolve) => {
      if (waiting.length === 0) clock.soon(() => void askGathered())
      waiting.push({ questions, resolve })
    })
  }

  /** Puts what has to be asked behind the questions there are. */
  function seek(owner: Party, contact: Person, questions: Question[], isAnew: boolean, now: number): Sought {
    const question = { ownerId: owner.userId, contactId: contact.userId, contactsAt: owner.contactsAt }
    if (!isAnew && isRemembered(question, now)) return true
    return { question: questions.push(question) - 1 }
  }

  const pretended = (ownerId: string, contactId: string): Question => ({ ownerId, contactId, contactsAt: 0 })

  async function findOut(
    targets: readonly Party[],
    viewer: Party,
    { isAnew, pretendedId }: Asking,
    askAll: (questions: readonly Question[]) => Promise<Answers>,
  ): Promise<Between[]> {
    const now = clock.now()
    const questions: Question[] = []
    const sought = targets.map((target): { viewerIs: Sought; targetIs: Sought } => {
      const needed = relevantRelation(target, viewer, rules)
      if (!needed.viewerIsContact && !needed.targetIsContact) {
        if (visibleTo(target, viewer, STRANGERS, rules).sight === 'nothing')
          questions.push(pretended(target.userId, viewer.userId))
        return { viewerIs: false, targetIs: false }
      }
      return {
        viewerIs: needed.viewerIsContact && seek(target, viewer, questions, isAnew, now),
        targetIs: needed.targetIsContact && seek(viewer, target, questions, isAnew, now),
      }
    })
    if (pretendedId !== null) questions.push(pretended(pretendedId, viewer.userId))
    const answers = questions.length === 0 ? [] : await askAll(questions)
    const found = (one: Sought) => (typeof one === 'boolean' ? one : answers[one.question]!)
    return sought.map(({ viewerIs, targetIs }) => {
      const [viewerIsContact, targetIsContact] = [found(viewerIs), found(targetIs)]
      return {
        relation: { viewerIsContact: viewerIsContact ?? false, targetIsContact: targetIsContact ?? false },
        isGuess: viewerIsContact === null || targetIsContact === null,
      }
    })
  }

  return {
    async between(target, viewer) {
      const how = { isAnew: false, pretendedId: null }
      return (await findOut([target], viewer, how, gather))[0]!
    },
    betweenMany: (targets, viewer, how) => findOut(targets, viewer, how, ask),
    async pretend(targetId, viewerId) {
      await gather([pretended(targetId, viewerId)])
    },
    forget() {
      remembered = createRecentMap(REMEMBERED_MAX)
    },
  }
}
