// Servers with one defect each, of which every one must be noticed. A defect is put into the parts that the world is
// made of, so it does not depend on how the server is written inside.
import type { QueriedPresence } from '@greendot/protocol'
import type { ArchivedUser } from '../../packages/server/src/archive/port.ts'
import type { Bus, BusMessage } from '../../packages/server/src/bus/port.ts'
import type { Transition } from '../../packages/server/src/presence/pipeline/announcer.ts'
import type { Between } from '../../packages/server/src/presence/privacy/relations.ts'
import type { SeenAnswer, SeenBy } from '../../packages/server/src/presence/reading/seen-by.ts'
import { EVALUATOR_WEAKENINGS } from './evaluator-weakenings.ts'
import { editMessages } from './weak-parts.ts'
import type { Weakening } from './weakening.ts'

const telling: readonly Weakening[] = [
  {
    name: 'changes do not say who may see them',
    breaks: 'S6',
    weaken: () => ({
      bus: (bus) =>
        editMessages(bus, (message) =>
          message.kind === 'change' ? [{ ...message, discretion: null }] : [message],
        ),
    }),
  },
  {
    name: 'gateways do not hear what users choose',
    breaks: 'S5, S6',
    weaken: () => ({
      bus: (bus) => editMessages(bus, (message) => (message.kind === 'choices' ? [] : [message])),
    }),
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
        announcer: ({ announce }) => ({
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
      announcer: ({ announce }) => ({
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
    discretion: null,
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
    name: 'all users share one poll limit',
    breaks: 'S6, R5',
    weaken: () => ({
      pollLimit: ({ take }) => ({ take: (_, now) => take('everyone', now) }),
    }),
  },
]

const CONTACTS: Between = { relation: { viewerIsContact: true, targetIsContact: true }, isGuess: false }

const forgetful = ({ lastSeen, settings }: ArchivedUser): ArchivedUser => ({
  lastSeen,
  settings: settings && { ...settings, privacy: null, availability: null },
})

const answering: readonly Weakening[] = [
  {
    name: 'the public page shows what the app sees',
    breaks: 'S6, R4',
    weaken: () => ({
      seenBy: (seenBy) => ({
        ...seenBy,
        look: (eyes, userIds) => seenBy.look(eyes.of === 'anyone' ? { of: 'app' } : eyes, userIds),
      }),
    }),
  },
  {
    name: 'what one viewer sees is kept for all',
    breaks: 'S6, R6',
    weaken: () => ({
      seenBy(seenBy) {
        const kept = new Map<string, Promise<SeenAnswer>>()
        const look: SeenBy['look'] = (eyes, userIds) => {
          const answer = kept.get(userIds.join()) ?? seenBy.look(eyes, userIds)
          kept.set(userIds.join(), answer)
          return answer
        }
        return { ...seenBy, look }
      },
    }),
  },
  {
    name: 'answers tell the last seen of hidden users',
    breaks: 'S5, S6',
    weaken: () => ({
      seenBy: (seenBy) => revealing(seenBy, (seen, truth) => ({ ...seen, last_seen: truth.last_seen })),
    }),
  },
]

/** Answers in which something is as the app sees it. */
function revealing(
  seenBy: SeenBy,
  reveal: (seen: QueriedPresence, truth: QueriedPresence) => QueriedPresence,
): SeenBy {
  const look: SeenBy['look'] = async (eyes, userIds) => {
    const truth = await seenBy.look({ of: 'app' }, userIds)
    const seen = await seenBy.look(eyes, userIds)
    return { ...seen, found: seen.found.map((one, position) => reveal(one, truth.found[position]!)) }
  }
  return {
    ...seenBy,
    look,
    async lookInJson(eyes, userIds) {
      const { found, isDegraded } = await look(eyes, userIds)
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
