// Who is in whose contact list, asked many at a time. A yes is remembered for a moment, for one edition
// of the list (`contactsAt` of its owner), so that an edit makes it void at once, wherever it is
// remembered. A no is asked every time, and so is whoever is hidden anyway: how long an answer takes must
// not tell nobody at all from somebody who hides. What cannot be found out is null: whoever asked must
// take it for a no and ask again.
import type { Archive } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { PrivacyRules } from './privacy.ts'
import { createRecentMap } from './recent-map.ts'
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
  /** What lies between the two, as far as it makes a difference. */
  between(target: Party, viewer: Party): Promise<Between>
  /** The same by what the archive says now: for whoever does not know the edition of a list, or wants to be sure. */
  betweenAnew(target: Party, viewer: Party): Promise<Between>
  /** Asks as `between` does for somebody hidden, though there is nobody: done when that is answered. */
  pretend(targetId: string, viewerId: string): Promise<void>
  /** Lists may have been edited without our hearing of it, or their editions counted anew. */
  forget(): void
}

interface Question {
  ownerId: string
  contactId: string
  contactsAt: number
}

interface Waiting {
  question: Question
  resolve(isContact: boolean | null): void
}

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

  /** Asks for everything that came up in this turn of the loop at once: a crowd connects together. */
  async function ask(): Promise<void> {
    const asked = waiting
    waiting = []
    try {
      const answers = await archive.areContacts(asked.map(({ question }) => question))
      isFailing = false
      const now = clock.now()
      for (const [index, { question, resolve }] of asked.entries()) {
        if (answers[index]!) remember(question, now)
        else remembered.delete(keyOf(question))
        resolve(answers[index]!)
      }
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'contacts cannot be read; people who show only those hide')
      isFailing = true
      for (const { resolve } of asked) resolve(null)
    }
  }

  function enqueue(question: Question): Promise<boolean | null> {
    return new Promise((resolve) => {
      if (waiting.length === 0) clock.soon(() => void ask())
      waiting.push({ question, resolve })
    })
  }

  async function isContact(owner: Party, contact: Person, isAnew: boolean): Promise<boolean | null> {
    const question = { ownerId: owner.userId, contactId: contact.userId, contactsAt: owner.contactsAt }
    return (!isAnew && isRemembered(question, clock.now())) || enqueue(question)
  }

  async function pretend(ownerId: string, contactId: string): Promise<void> {
    await enqueue({ ownerId, contactId, contactsAt: 0 })
  }

  async function findOut(target: Party, viewer: Party, isAnew: boolean): Promise<Between> {
    const needed = relevantRelation(target, viewer, rules)
    if (!needed.viewerIsContact && !needed.targetIsContact) {
      if (visibleTo(target, viewer, STRANGERS, rules).sight === 'nothing')
        await pretend(target.userId, viewer.userId)
      return { relation: STRANGERS, isGuess: false }
    }
    const [viewerIsContact, targetIsContact] = await Promise.all([
      needed.viewerIsContact && isContact(target, viewer, isAnew),
      needed.targetIsContact && isContact(viewer, target, isAnew),
    ])
    return {
      relation: { viewerIsContact: viewerIsContact ?? false, targetIsContact: targetIsContact ?? false },
      isGuess: viewerIsContact === null || targetIsContact === null,
    }
  }

  return {
    between: (target, viewer) => findOut(target, viewer, false),
    betweenAnew: (target, viewer) => findOut(target, viewer, true),
    pretend,
    forget() {
      remembered = createRecentMap(REMEMBERED_MAX)
    },
  }
}
