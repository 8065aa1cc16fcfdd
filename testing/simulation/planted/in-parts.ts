// Bugs in the archive, the settings, and in parts of presence.
import type { Archive, ArchivedUser } from '../../../packages/server/src/archive/port.ts'
import type { Config } from '../../../packages/server/src/platform/config/config.ts'
import type { Policy } from '../../../packages/server/src/presence/core/policy.ts'
import type { Transition } from '../../../packages/server/src/presence/pipeline/announcer.ts'
import type { Planting } from '../world/ground.ts'
import type { Planted } from './planting.ts'

const inArchive = (change: (archive: Archive) => Partial<Archive>): Planting => ({
  archive: (archive) => ({ ...archive, ...change(archive) }),
})

const inPolicy = (change: (policy: Policy) => Partial<Policy>): Planting => ({
  config: (config): Config => ({ ...config, policy: { ...config.policy, ...change(config.policy) } }),
})

const NO_ROWS: ArchivedUser = { lastSeen: null, settings: null }

export const IN_ARCHIVE: readonly Planted[] = [
  {
    name: 'a choice is acknowledged before it is written',
    breaks: 'B5',
    isRare: true,
    plant: () =>
      inArchive(({ writeSettings }) => ({
        writeSettings: async (rows) => void writeSettings(rows).catch(() => {}),
      })),
  },
  {
    name: 'departures are not written',
    breaks: 'B6',
    plant: () =>
      inArchive(({ writeLastSeen }) => ({
        writeLastSeen: async (rows) => {
          await writeLastSeen(rows.filter(({ status }) => status !== 'offline'))
          return rows.length
        },
      })),
  },
  {
    name: 'an archive that does not answer is taken as empty',
    breaks: 'B8, B5',
    isRare: true,
    plant: () =>
      inArchive(({ read }) => ({ read: (userIds) => read(userIds).catch(() => userIds.map(() => NO_ROWS)) })),
  },
  {
    name: 'choices are not read back',
    breaks: 'B8, B3',
    plant: () =>
      inArchive(({ read }) => ({
        read: async (userIds) => (await read(userIds)).map(({ lastSeen }) => ({ lastSeen, settings: null })),
      })),
  },
  {
    name: 'writes that fail count as written',
    breaks: 'B6',
    isRare: true,
    plant: () =>
      inArchive(({ writeLastSeen }) => ({
        writeLastSeen: (rows) => writeLastSeen(rows).catch(() => rows.length),
      })),
  },
]

export const IN_PARTS: readonly Planted[] = [
  {
    name: 'sessions live three times as long as their time to live',
    breaks: 'B1',
    plant: () => inPolicy(({ heartbeatTtlMs }) => ({ heartbeatTtlMs: heartbeatTtlMs * 3 })),
  },
  {
    name: 'the offline delay is forgotten',
    breaks: 'B2',
    isRare: true,
    plant: () => inPolicy(() => ({ offlineDelayMs: 0 })),
  },
  {
    name: 'the lease is ten times as long as it should be',
    breaks: 'B1',
    plant: () => ({ config: (config) => ({ ...config, gatewayLeaseMs: config.gatewayLeaseMs * 10 }) }),
  },
  {
    name: 'doubts are not heard',
    breaks: 'B1, B3',
    isRare: true,
    plant: () => ({ doubts: ({ report }) => ({ report, listen: () => {} }) }),
  },
  {
    name: 'of a batch only the change of one user is announced',
    breaks: 'B1, B3',
    plant: () => ({
      replace: {
        announcer: ({ owed, announce }) => ({
          owed,
          announce<T extends Transition>(transitions: readonly T[], now: number, done: (one: T) => void) {
            announce(transitions.slice(0, 1), now, done)
            for (const lost of transitions.slice(1)) done(lost)
          },
        }),
      },
    }),
  },
  {
    name: 'a state that is announced again is not announced',
    breaks: 'B3',
    plant: () => ({
      replace: {
        announcer: ({ owed, announce }) => ({
          owed,
          announce(transitions, now, done) {
            const isNew = ({ isRepeated }: Transition) => !isRepeated
            announce(transitions.filter(isNew), now, done)
            for (const repeated of transitions.filter((one) => !isNew(one))) done(repeated)
          },
        }),
      },
    }),
  },
  {
    name: 'every user is a contact of every other',
    breaks: 'B8',
    plant: () => ({
      replace: {
        relations: (relations) => ({
          ...relations,
          between: async () => CONTACTS,
          betweenMany: async (targets) => targets.map(() => CONTACTS),
        }),
      },
    }),
  },
]

const CONTACTS = { relation: { viewerIsContact: true, targetIsContact: true }, isGuess: false }
