// Servers with one defect each, of which every one must be noticed. A defect is put into the parts that the world is
// made of, so it does not depend on how the server is written inside.
import type { QueriedPresence } from '@greendot/protocol'
import type { ArchivedUser } from '../../../packages/server/src/archive/port.ts'
import type { Bus, BusMessage } from '../../../packages/server/src/bus/port.ts'
import type { Transition } from '../../../packages/server/src/presence/pipeline/announcer.ts'
import type { RelationAnswer } from '../../../packages/server/src/presence/privacy/relations.ts'
import type {
  ViewerAnswer,
  ViewerReader,
} from '../../../packages/server/src/presence/reading/viewer-reader.ts'
import { EVALUATOR_WEAKENINGS } from './evaluator.ts'
import { editMessages } from './weak-parts.ts'
import type { Weakening } from './weakening.ts'

const telling: readonly Weakening[] = [
  {
    name: 'changes do not say who may see them',
    breaks: 'S6',
    weaken: () => ({
      bus: (bus) =>
        editMessages(bus, (message) =>
          message.kind === 'change' ? [{ ...message, inputs: null }] : [message],
        ),
    }),
  },
  {
    name: 'gateways hear of a change of privacy with the next visible change only',
    breaks: 'S5, S6',
    weaken() {
      const versions = new Map<string, number>()
      return {
        bus: (bus) =>
          editMessages(bus, (message) => {
            if (message.kind !== 'change') return [message]
            const isVisible = versions.get(message.userId) !== message.version
            versions.set(message.userId, message.version)
            return isVisible ? [message] : []
          }),
      }
    },
  },
  {
    name: 'own views are told to watchers',
    breaks: 'S2',
    weaken: () => ({
      bus: (bus) =>
        editMessages(bus, (message) => (message.kind === 'self' ? [message, leaked(message)] : [message])),
    }),
  },
  {
    name: 'a change is told when the next one comes',
    breaks: 'S6, W8',
    weaken: () => ({ bus: holdingBack }),
  },
  {
    name: 'versions count the changes of all users',
    breaks: 'S6, W9',
    weaken() {
      let changes = 0
      return {
        announcer: ({ owed, announce }) => ({
          owed,
          announce(transitions, now, done) {
            changes += transitions.length
            announce(transitions, now, done)
          },
        }),
        bus: (bus) =>
          editMessages(bus, (message) =>
            message.kind === 'change' ? [withVersion(message, message.version + changes)] : [message],
          ),
      }
    },
  },
  {
    name: 'of a batch only the change of one user is announced',
    breaks: 'S6',
    weaken: () => ({
      announcer: ({ owed, announce }) => ({
        owed,
        announce<T extends Transition>(transitions: readonly T[], now: number, done: (one: T) => void) {
          announce(transitions.slice(0, 1), now, done)
          for (const lost of transitions.slice(1)) done(lost)
        },
      }),
    }),
  },
]

const leaked = ({ userId, json }: Extract<BusMessage, { kind: 'self' }>): BusMessage => {
  const { version, ...view } = JSON.parse(json) as { version: number }
  const presence = { ...view, version: version + 1 }
  return {
    kind: 'change',
    userId,
    version: version + 1,
    at: 0,
    json: JSON.stringify(presence),
    inputs: null,
  }
}

function withVersion(message: Extract<BusMessage, { kind: 'change' }>, version: number): BusMessage {
  const presence = JSON.parse(message.json) as { version: number }
  if (presence.version === 0) return message
  return { ...message, version, json: JSON.stringify({ ...presence, version }) }
}

function holdingBack(bus: Bus): Bus {
  let held: BusMessage | null = null
  return editMessages(bus, (message) => {
    if (message.kind !== 'change') return [message]
    const told = held
    held = message
    return told === null ? [] : [told]
  })
}

const finding: readonly Weakening[] = [
  {
    name: 'every user is a contact of every other',
    breaks: 'S5, S6',
    weaken: () => ({
      relations: (relations) => ({
        ...relations,
        between: async () => CONTACTS,
        betweenMany: async (targets) => targets.map(() => CONTACTS),
      }),
    }),
  },
  {
    name: 'who was a contact stays one',
    breaks: 'S5, S6',
    weaken: () => ({
      archive(archive) {
        const contacts = new Set<string>()
        return {
          ...archive,
          async areContacts(pairs) {
            const answers = await archive.areContacts(pairs)
            return pairs.map(({ ownerId, contactId }, position) => {
              const key = `${ownerId} ${contactId}`
              if (answers[position]!) contacts.add(key)
              return contacts.has(key)
            })
          },
        }
      },
    }),
  },
  {
    name: 'a restart forgets who hides and who is invisible',
    breaks: 'S2, S4, S6',
    weaken: () => ({
      archive: (archive) => ({
        ...archive,
        read: async (userIds) => (await archive.read(userIds)).map(forgetful),
      }),
    }),
  },
  {
    name: 'all users share one rate limit',
    breaks: 'S6, R5',
    weaken: () => ({
      rateLimiter: ({ take }) => ({ take: (limit, _, now) => take(limit, 'everyone', now) }),
    }),
  },
]

const CONTACTS: RelationAnswer = {
  relation: { viewerIsContact: true, targetIsContact: true },
  isGuess: false,
}

const forgetful = ({ lastSeen, settings }: ArchivedUser): ArchivedUser => ({
  lastSeen,
  settings: settings && { ...settings, privacy: null, availability: null },
})

const answering: readonly Weakening[] = [
  {
    name: 'the public page shows what the app sees',
    breaks: 'S6, R4',
    weaken: () => ({
      viewerReader: (viewerReader) => ({
        ...viewerReader,
        read: (as, userIds) => viewerReader.read(as.kind === 'anyone' ? { kind: 'app' } : as, userIds),
      }),
    }),
  },
  {
    name: 'what one viewer sees is kept for all',
    breaks: 'S6, R6',
    weaken: () => ({
      viewerReader(viewerReader) {
        const kept = new Map<string, Promise<ViewerAnswer>>()
        const read: ViewerReader['read'] = (as, userIds) => {
          const answer = kept.get(userIds.join()) ?? viewerReader.read(as, userIds)
          kept.set(userIds.join(), answer)
          return answer
        }
        return { ...viewerReader, read }
      },
    }),
  },
  {
    name: 'answers tell the last seen of hidden users',
    breaks: 'S5, S6',
    weaken: () => ({
      viewerReader: (viewerReader) =>
        revealing(viewerReader, (seen, truth) => ({ ...seen, last_seen: truth.last_seen })),
    }),
  },
]

/** Answers in which something is as the app sees it. */
function revealing(
  viewerReader: ViewerReader,
  reveal: (seen: QueriedPresence, truth: QueriedPresence) => QueriedPresence,
): ViewerReader {
  const read: ViewerReader['read'] = async (as, userIds) => {
    const truth = await viewerReader.read({ kind: 'app' }, userIds)
    const seen = await viewerReader.read(as, userIds)
    return { ...seen, found: seen.found.map((one, position) => reveal(one, truth.found[position]!)) }
  }
  return {
    ...viewerReader,
    read,
    async readJson(as, userIds) {
      const { found, isDegraded } = await read(as, userIds)
      return { json: JSON.stringify(found), isDegraded }
    },
  }
}

export const WEAKENINGS: readonly Weakening[] = [
  ...EVALUATOR_WEAKENINGS,
  ...telling,
  ...finding,
  ...answering,
]
