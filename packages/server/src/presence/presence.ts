// The door of this room: builds the parts of presence from the ports, each from parts that exist already.
// pipeline.ts, the benchmark and the test worlds build them here, so all of them run the same wiring.
import type { Archive } from '../archive/port.ts'
import type { Bus } from '../bus/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tracer } from '../platform/measuring/tracing.ts'
import type { PresenceStore } from '../store/port.ts'
import type { Policy } from './core/policy.ts'
import type { PrivacyRules } from './core/privacy.ts'
import type { UserRecord } from './core/record.ts'
import { createActions } from './people/actions.ts'
import { createChoices } from './people/choices.ts'
import { createContactChangeNotifier } from './people/contact-change-notifier.ts'
import { createContacts } from './people/contacts.ts'
import { createEraser } from './people/eraser.ts'
import { createErasure } from './people/erasure.ts'
import { createHistory } from './people/history.ts'
import { createPersonExport } from './people/person-export.ts'
import { type Announcer, createAnnouncer } from './pipeline/announcer.ts'
import { createArchivist } from './pipeline/archivist.ts'
import { createDuties } from './pipeline/duties.ts'
import { createDutySweep } from './pipeline/duty-sweep.ts'
import { createTracker, type Tracker } from './pipeline/tracker.ts'
import { createEvaluator, type Evaluator } from './privacy/evaluator.ts'
import { createRelations, type Relations } from './privacy/relations.ts'
import { type ArchiveLookup, createArchiveLookup } from './reading/archive-lookup.ts'
import { createQueryCache } from './reading/query-cache.ts'
import { createReader } from './reading/reader.ts'
import { createViewerReader, type ViewerReader } from './reading/viewer-reader.ts'

/** Parts that decide who sees what. */
interface Deciding {
  announcer: Announcer
  evaluator: Evaluator
  relations: Relations
  viewerReader: ViewerReader
}

/** Other parts in their place, each before another part is given it: a test weakens one rule this way. */
export type Replacements = { readonly [Name in keyof Deciding]?: (part: Deciding[Name]) => Deciding[Name] }

export interface PresenceParts {
  archive: Archive
  store: PresenceStore
  bus: Bus
  /** Where queries are loaded from, if not from the store. */
  loadForQuery?: PresenceStore['load']
  /** The hot store dies with the process. */
  isStoreVolatile: boolean
  /** How long queries may be answered from local memory. */
  cacheMs: number
  policy: Policy
  rules: PrivacyRules
  /** For how many days a history is kept; none if left out. */
  historyDays?: number
  clock: Clock
  logger: Logger
  /** Whether changes are put into the change log, at this moment. */
  isLogged?: () => boolean
  /** Makes the tracker of a process that does not own the users it hears of. */
  createRemoteTracker?: (lookup: ArchiveLookup) => Tracker
  /** See the announcer. */
  beforeAnnouncing?: () => Promise<unknown> | null
  /** A user changed, or who may see the user did. */
  onChange?: (userId: string, record: UserRecord) => void
  /** Events could not be committed. */
  onTrouble?: () => void
  /** A batch of users was committed. */
  onBatch?: (tookMs: number) => void
  /** Null where nothing is traced. */
  tracer?: Tracer | null
  replace?: Replacements
}

export function createPresence(parts: PresenceParts) {
  const { archive, store, rules, clock, logger, onChange, replace = {} } = parts
  const loadForQuery = parts.loadForQuery ?? store.load
  // A cached record has no present edition of the contact list, so the cache is for open servers only.
  const cache = createQueryCache(rules.defaultVisibility === 'everyone' ? parts.cacheMs : 0)
  const archivist = createArchivist(archive, clock, logger, { keepsBacklog: parts.isStoreVolatile })
  const duties = createDuties(store, clock)
  const lookup = createArchiveLookup(archive, clock, logger)
  const announcer = replaced(
    createAnnouncer({
      ...parts,
      archivist,
      duties,
      onChange(userId, record) {
        cache.forget(userId)
        onChange?.(userId, record)
      },
    }),
    replace.announcer,
  )
  const createOwnTracker = (own: Clock) => createTracker({ ...parts, clock: own, lookup, announcer })
  const tracker = parts.createRemoteTracker?.(lookup) ?? createOwnTracker(clock)
  const tick = (userId: string) => tracker.report(userId, { type: 'tick' })
  const reader = createReader({ ...parts, loadForQuery, lookup, cache, tick, repeat: tracker.repeat })
  const evaluator = replaced(createEvaluator(rules), replace.evaluator)
  const relations = replaced(createRelations({ archive, evaluator, clock, logger }), replace.relations)
  const viewerReader = replaced(
    createViewerReader({ reader, relations, evaluator, rules, clock }),
    replace.viewerReader,
  )
  const choices = createChoices({ store, lookup, archivist, tracker, clock })
  const notifier = createContactChangeNotifier({ archive, tracker, clock, logger })
  const history = createHistory(parts)
  const erasure = createErasure({ ...parts, archivist, choices, notifier, cache })
  return {
    cache,
    archivist,
    duties,
    dutySweep: createDutySweep({ archive, store, lookup, tracker, archivist, duties, logger }),
    tracker,
    /** For users that this process owns, on their clock. */
    createOwnTracker,
    choices,
    reader,
    evaluator,
    relations,
    viewerReader,
    notifier,
    contacts: createContacts({ archive, store, notifier, clock }),
    history,
    exportPerson: createPersonExport({ ...parts, reader, history }),
    eraser: createEraser({ ...parts, erasure }),
    actions: createActions(choices, clock, history),
  }
}

const replaced = <Part>(part: Part, replace: ((part: Part) => Part) | undefined): Part =>
  replace === undefined ? part : replace(part)
