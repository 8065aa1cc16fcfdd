// The checks that keep invisible people looking like people who left, also after a restart.
import { type Mutation, mutation, rare } from './mutation.ts'

export const MASKING: readonly Mutation[] = [
  mutation(
    'invisible people are visible',
    'presence/machine.ts',
    'const masked = isInvisible(record, now)',
    'const masked = false',
  ),
  mutation(
    'the custom status of invisible people moves',
    'presence/machine.ts',
    'masked ? maskedView(record.shown, now) :',
    'masked ? { ...maskedView(record.shown, now), customStatus: effectiveCustomStatus(record, now) } :',
  ),
  mutation(
    'a custom status that invisible people have shown does not expire',
    'presence/machine.ts',
    'customStatus: expired ? null : customStatus }',
    'customStatus }',
  ),
  mutation(
    'invisible people were last seen when they were last active',
    'presence/machine.ts',
    'lastSeen = Math.max(record.lastSeen ?? goneAt, goneAt)',
    'lastSeen = record.lastSeen',
  ),
  rare(
    mutation(
      'invisible people were last seen when it was heard of',
      'presence/machine.ts',
      'const goneAt = Math.min(record.availability!.setAt, now)',
      'const goneAt = now',
    ),
  ),
  mutation(
    'the last seen of invisible people moves',
    'presence/view.ts',
    'last_seen: shown.lastSeen,',
    'last_seen: record.lastSeen,',
  ),
  mutation(
    'the version of invisible people moves',
    'presence/machine.ts',
    '  ) {\n    return record\n  }\n  let lastSeen',
    '  ) {\n    return masked ? { ...record, version: record.version + 1 } : record\n  }\n  let lastSeen',
  ),
  mutation(
    'the source of invisible people is where they are',
    'presence/view.ts',
    "return record.shown.status === 'offline' ? 'db' : 'live'",
    "return record.sessions.length === 0 ? 'db' : 'live'",
  ),
  mutation(
    'a restart forgets who is invisible',
    'presence/hydrate.ts',
    'availability: settings?.availability ?? null,',
    'availability: null,',
  ),
  mutation(
    'a restart forgets who is hidden',
    'presence/hydrate.ts',
    'privacy: settings?.privacy ?? null,',
    'privacy: null,',
  ),
]
