// The door of this room: who watches whom, what each viewer may see of each target, and contact lists that
// are followed. It is told which user is behind a connection, and hands marks and bytes to delivery.
import type { Failure } from '@greendot/protocol'
import type { Archive } from '../../archive/port.ts'
import type { ChangeMessage, ErasedMessage, GoneMessage } from '../../bus/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Span } from '../../platform/measuring/tracing.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import {
  PRIVACY_UNKNOWN,
  type PrivacyRules,
  UNRESTRICTED,
  type VisibilityInputs,
} from '../../presence/core/privacy.ts'
import { unknownPresence } from '../../presence/core/view.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import type { Evaluator } from '../../presence/privacy/evaluator.ts'
import type { Relations } from '../../presence/privacy/relations.ts'
import type { Reader } from '../../presence/reading/reader.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Doubts } from '../doubts.ts'
import type { Identity } from '../identity.ts'
import type { Interner } from '../interner.ts'
import { createContactFollowing } from './contact-following.ts'
import { createLevelDecisions } from './level-decisions.ts'
import { createLevelReviews } from './level-reviews.ts'
import { createMemoryTrust } from './memory-trust.ts'
import { createTargetReading } from './target-reading.ts'
import { createViewers } from './viewers.ts'
import { createInputTable } from './visibility-inputs.ts'
import { createWatchedTargets } from './watched-targets.ts'
import { createWatcherExposure } from './watcher-exposure.ts'
import { createWatches, type Watches } from './watches.ts'

export { stateFrames } from './state-frames.ts'

export interface Watching
  extends Pick<Watches, 'limitFailure' | 'watch' | 'unwatch' | 'versionsSeen' | 'hasNoHolds'> {
  /** A connection of this user may watch from now on. */
  open(connection: number, userId: string): void
  close(connection: number): void
  /** Watches the user's contact list and follows its edits from now on. */
  followContacts(connection: number, isOpen: () => boolean): Promise<Failure | null>
  /** The connection takes data again. */
  unblocked(connection: number): void
  /** Who may see this user, by the user's own record. */
  learn(userId: string, inputs: VisibilityInputs): void
  /** Whether the user has a session here and is not invisible. */
  setVisible(userId: string, isVisible: boolean): void
  /** A user without a session watches: keeps what decides about the user up to date until `release`. */
  retain(userId: string): Promise<number>
  release(user: number): void
  /** A change arrived from the bus. Its span ends with the first frame that has it. */
  change(message: ChangeMessage, span?: Span | null): void
  /** A user left whose settings are not known. */
  gone(message: GoneMessage): void
  /** A user was erased: nothing is known any more. */
  erase(message: ErasedMessage): void
  /** Registers the interest in these targets again, under the gateway's present name. */
  registerAgain(isMeant: (userId: string) => boolean): Promise<void>
  /** Messages may be missing: until the next refresh, watches read what is known here again. */
  distrust(): void
  /**
   * Reads targets and followed lists again, after something may have been lost. False when the archive did not
   * answer for some, and these were left as they are.
   */
  refresh(): Promise<boolean>
  /** Reads the targets again whose state was a guess. */
  readUnsure(): Promise<void>
  /** Users that are watched here. */
  targetCount(): number
}

export interface WatchingParts {
  interner: Interner
  delivery: Delivery
  identity: Identity
  doubts: Doubts
  store: PresenceStore
  archive: Archive
  reader: Reader
  relations: Relations
  evaluator: Evaluator
  tracker: Tracker
  rules: PrivacyRules
  watchLimit: number
  clock: Clock
  logger: Logger
}

export function createWatching(parts: WatchingParts): Watching {
  const { interner, delivery, relations, rules } = parts
  const inputs = createInputTable()
  interner.onFree(inputs.forget)
  const viewers = createViewers(interner)
  const decisions = createLevelDecisions({ ...parts, inputs })
  const exposure = createWatcherExposure({ ...parts, inputs, viewers })
  const reviews = createLevelReviews({ ...parts, inputs, viewers, exposure, decisions })
  const watched = createWatchedTargets(parts)
  const memory = createMemoryTrust()
  const reading = createTargetReading({ ...parts, inputs, reviews, watched })
  const watches = createWatches({ ...parts, inputs, viewers, decisions, reviews, watched, reading, memory })
  const following = createContactFollowing({ ...parts, viewers, watches })

  function learn(user: number, heard: VisibilityInputs): void {
    reviews.learn(user, heard)
    if (heard.contactsAt > 0) following.edited(viewers.connectionsOf(user), heard.contactsAt)
  }

  return {
    limitFailure: watches.limitFailure,
    watch: watches.watch,
    unwatch: watches.unwatch,
    versionsSeen: watches.versionsSeen,
    hasNoHolds: watches.hasNoHolds,
    open: viewers.open,
    close(connection) {
      following.clear(connection)
      watches.clear(connection)
      viewers.close(connection)
    },
    followContacts: following.follow,
    unblocked: following.unblocked,
    learn(userId, heard) {
      const user = interner.find(userId)
      if (user !== NIL) learn(user, heard)
    },
    setVisible(userId, isVisible) {
      const user = interner.find(userId)
      if (user !== NIL) exposure.setVisible(user, isVisible)
    },
    async retain(userId) {
      const user = watched.retain(userId)
      try {
        if (!delivery.targets.isKnown(user)) await reading.load([userId])
        return user
      } catch (error) {
        watched.release(user)
        throw error
      }
    },
    release: watched.release,
    change({ userId, version, json, at, inputs: heard }, span) {
      const user = interner.find(userId)
      if (user === NIL) return span?.end({ sent: false })
      // First who may see it, then what there is to see.
      if (heard !== null || inputs.of(user).privacy === PRIVACY_UNKNOWN) learn(user, heard ?? UNRESTRICTED)
      const isNew = watched.isRetained(user) && delivery.change(user, version, json, at)
      if (span && isNew) delivery.follow(user, span)
      else span?.end({ sent: false })
    },
    gone: ({ userId, version }) => reading.forget(userId, version),
    erase({ userId, version, at }) {
      const user = interner.find(userId)
      if (user === NIL) return
      const json = JSON.stringify(unknownPresence(userId, rules.hiddenAs))
      // It goes out by the levels of before: a viewer who saw nothing hears nothing. A target that is still
      // being read takes the version, so that what was read before the erasure comes too late.
      if (watched.isRetained(user)) {
        if (delivery.targets.isKnown(user)) delivery.change(user, version, json, at)
        else delivery.learn(user, version, json, at)
      }
      reviews.replace(user, UNRESTRICTED)
    },
    registerAgain: watched.registerAgain,
    distrust: memory.lose,
    async refresh() {
      const losses = memory.losses()
      relations.clearCache()
      following.refresh()
      const isComplete = await reading.refresh()
      if (isComplete) memory.regain(losses)
      return isComplete
    },
    readUnsure: reading.readUnsure,
    targetCount: watched.count,
  }
}
