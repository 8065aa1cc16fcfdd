// Evaluators that get one rule of S5 wrong. `evaluating` is the only thing here that knows how the evaluator is
// reached: as long as it is not a part that can be replaced, everything that reaches it is.
import type { Privacy, PrivacySetting } from '../../packages/server/src/presence/core/privacy.ts'
import type { UserRecord } from '../../packages/server/src/presence/core/record.ts'
import { editMessages, readingAs } from './weak-parts.ts'
import type { Weaken, Weakening } from './weakening.ts'

/** An evaluator for which a choice means something else. */
function evaluating(means: (privacy: Privacy) => Partial<Privacy>): Weaken {
  const edited = (privacy: PrivacySetting | null) => privacy && { ...privacy, ...means(privacy) }
  const inRecord = (record: UserRecord): UserRecord => ({ ...record, privacy: edited(record.privacy) })
  return {
    reader: (reader) => readingAs(reader, inRecord),
    tracker: (tracker) => ({
      ...tracker,
      async apply(userId, ...events) {
        const { record, revision } = await tracker.apply(userId, ...events)
        return { record: inRecord(record), revision }
      },
    }),
    bus: (bus) =>
      editMessages(bus, (message) => {
        if (message.kind !== 'change' && message.kind !== 'choices') return [message]
        const { discretion } = message
        if (discretion === null) return [message]
        return [{ ...message, discretion: { ...discretion, privacy: edited(discretion.privacy) } }]
      }),
  }
}

const asEveryone = (audience: 'nobody' | 'contacts') => (privacy: Privacy) => ({
  statusVisibility: privacy.statusVisibility === audience ? ('everyone' as const) : privacy.statusVisibility,
})

export const EVALUATOR_WEAKENINGS: readonly Weakening[] = [
  {
    name: 'the deny list is skipped',
    breaks: 'S5',
    weaken: () => evaluating(() => ({ deny: [] })),
  },
  {
    name: 'nobody is treated as everyone',
    breaks: 'S5',
    weaken: () => evaluating(asEveryone('nobody')),
  },
  {
    name: 'contacts are treated as everyone',
    breaks: 'S5',
    weaken: () => evaluating(asEveryone('contacts')),
  },
  {
    name: 'reciprocity is ignored',
    breaks: 'S5',
    weaken: () => evaluating(() => ({ reciprocal: false })),
  },
  {
    name: 'the default visibility is ignored',
    breaks: 'S5',
    weaken: () => ({ rules: (rules) => ({ ...rules, defaultVisibility: 'everyone' }) }),
  },
]
