// Reads the state of targets: once when the first watcher comes, and all of them again after something may
// have been lost. Privacy is learned before the state it belongs to, so that nothing goes out to a viewer who
// may not see it any more.
import type { Presence } from '@greendot/protocol'
import { chunksOf } from '../../platform/chunks.ts'
import type { Clock } from '../../platform/clock.ts'
import { type PrivacyRules, UNRESTRICTED, type VisibilityInputs } from '../../presence/core/privacy.ts'
import { isBare, type UserRecord } from '../../presence/core/record.ts'
import { wins } from '../../presence/core/setting-events.ts'
import { toPresence, unknownPresence } from '../../presence/core/view.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import type { Answer, Reader } from '../../presence/reading/reader.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Interner } from '../interner.ts'
import type { LevelReviews } from './level-reviews.ts'
import type { InputTable } from './visibility-inputs.ts'
import type { WatchedTargets } from './watched-targets.ts'

const USERS_PER_READ = 500

export interface TargetReading {
  /**
   * Registers interest first and reads after, so that no change falls between the two. Resolves with those of which the
   * store said what is true now.
   */
  load(userIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Reads all targets again and tells watchers what was missed. False when some could not be read. */
  refresh(): Promise<boolean>
  /** Reads the targets again whose state was a guess when they were read, or could not be read. */
  readUnsure(): Promise<void>
  /** The user is gone, and nothing may be told. Watchers that were not shown the user as present hear nothing. */
  forget(userId: string, version: number): void
}

export interface TargetReadingParts {
  interner: Interner
  delivery: Delivery
  inputs: InputTable
  reviews: LevelReviews
  watched: WatchedTargets
  reader: Reader
  tracker: Tracker
  store: Pick<PresenceStore, 'settlesAt' | 'shardOf'>
  rules: PrivacyRules
  clock: Clock
}

export function createTargetReading(parts: TargetReadingParts): TargetReading {
  const { interner, delivery, inputs, reviews, watched, reader, tracker, store, rules, clock } = parts
  const { targets } = delivery
  /** Targets that are shown by a guess, because their state was not certain when they were first read. */
  const guessed = new Set<string>()
  /** Targets that are shown as before something was lost, because their state was not certain when it was read again. */
  const kept = new Set<string>()
  let isReadingUnsure = false

  const presenceOf = (userId: string, record: UserRecord | null) =>
    record === null ? unknownPresence(userId, rules.hiddenAs) : toPresence(userId, record, rules.hiddenAs)

  const inputsOf = (record: UserRecord | null): VisibilityInputs => {
    const { privacy, contactsAt } = record ?? UNRESTRICTED
    return { privacy, contactsAt }
  }

  function take(userId: string, record: UserRecord | null): void {
    const target = interner.find(userId)
    // What was shown before holds until the settings are known.
    if (record?.settings === 'unknown' && targets.isKnown(target)) return
    // A push came while we read, and it is newer, as are its inputs. Or the archive answered for the store: its versions
    // are old, and its settings are not.
    const isOld = targets.isKnown(target) && (record?.version ?? 0) < targets.version(target)
    if (!isOld || record?.privacy != null) reviews.learn(target, inputsOf(record))
    if (isOld) return
    const presence = presenceOf(userId, record)
    // Nothing was known when we read and a push has come since: version 0 would win over it.
    if (presence.version === 0 && targets.isKnown(target)) return
    delivery.change(target, presence.version, JSON.stringify(presence), clock.now())
  }

  /** What is known here of a target, to notice a push that comes while it is read. */
  function knowledgeOf(userId: string): { version: number | null; inputs: VisibilityInputs } {
    const target = interner.find(userId)
    const isKnown = target !== -1 && targets.isKnown(target)
    return { version: isKnown ? targets.version(target) : null, inputs: inputs.of(target) }
  }

  /** Takes the inputs of the store, unless it has lost a setting that viewers already go by. */
  function reconcileInputs(userId: string, target: number, record: UserRecord | null): void {
    const known = inputs.of(target).privacy
    const found = inputsOf(record)
    const isLost = known !== null && known !== found.privacy && wins(known, found.privacy)
    if (record !== null && !isBare(record) && isLost)
      tracker.report(userId, { type: 'set_privacy', at: known.setAt, change: known })
    else reviews.replace(target, found)
  }

  /** Brings what is shown here to what the store says, in a version above the one clients know. */
  function reconcile(userId: string, record: UserRecord | null): void {
    const target = interner.find(userId)
    if (target === -1 || !targets.isKnown(target)) return
    if (record?.settings === 'unknown') {
      if (record.sessions.length === 0) forget(userId, record.version)
      return
    }
    const presence = presenceOf(userId, record)
    const json = JSON.stringify(presence)
    reconcileInputs(userId, target, record)
    const version = targets.version(target)
    const isSame = json === targets.json(target)
    if (isSame && presence.version >= version) return
    // The store lost what clients were shown, and clients keep the higher version.
    if (presence.version > 0 && presence.version <= version)
      tracker.report(userId, { type: 'raise_version', version })
    else if (!isSame) delivery.change(target, presence.version, json, clock.now())
  }

  /** The store lost its memory of the user, or neither store nor archive knows the user: that proves nothing. */
  function isUnsure({ records, isUnread, guessed }: Answer, position: number, userId: string): boolean {
    return guessed.has(userId) || (records[position] == null && isUnread)
  }

  /** False when some could not be read; these are added to `unsure`. */
  async function readAgain(userIds: readonly string[], unsure: Set<string>): Promise<boolean> {
    const before = userIds.map(knowledgeOf)
    const answer = await reader.read(userIds)
    const isComplete = !answer.isUnread && answer.guessed.size === 0
    if (isComplete && answer.isDegraded)
      throw new Error('the store went away while watched users were read again')
    for (const [position, userId] of userIds.entries()) {
      const { version, inputs } = knowledgeOf(userId)
      if (isUnsure(answer, position, userId)) unsure.add(userId)
      else if (version === before[position]!.version && inputs === before[position]!.inputs)
        reconcile(userId, answer.records[position] ?? null)
    }
    return isComplete
  }

  /**
   * Guesses, and those of the others whose shard has settled. Before that the store knows little of them, they may be all
   * targets, and gateways are busy announcing themselves.
   */
  function takeReadable(): string[] {
    const now = clock.now()
    const isSettling = (userId: string) => now < store.settlesAt(store.shardOf(userId))
    const readable = new Set(guessed)
    guessed.clear()
    for (const userId of kept) {
      if (isSettling(userId)) continue
      kept.delete(userId)
      readable.add(userId)
    }
    return [...readable].filter((userId) => watched.isRetained(interner.find(userId)))
  }

  function forget(userId: string, version: number): void {
    const target = interner.find(userId)
    if (target === -1 || !targets.isKnown(target)) return
    const { status } = JSON.parse(targets.json(target)) as Presence
    if (status === 'offline' || status === null) return
    delivery.change(target, version, JSON.stringify(presenceOf(userId, null)), clock.now())
  }

  return {
    forget,
    async load(userIds) {
      const certain = new Set<string>()
      if (userIds.length === 0) return certain
      await watched.registerInterest(userIds)
      const answer = await reader.read(userIds)
      for (const [position, userId] of userIds.entries()) {
        take(userId, answer.records[position] ?? null)
        if (isUnsure(answer, position, userId)) guessed.add(userId)
        else if (!answer.isDegraded) certain.add(userId)
      }
      return certain
    },
    async refresh() {
      let isComplete = true
      for (const userIds of watched.slices()) if (!(await readAgain(userIds, kept))) isComplete = false
      return isComplete
    },
    async readUnsure() {
      if (isReadingUnsure || guessed.size + kept.size === 0) return
      isReadingUnsure = true
      const all = takeReadable()
      try {
        for (const userIds of chunksOf(all, USERS_PER_READ)) await readAgain(userIds, guessed)
      } catch {
        for (const userId of all) guessed.add(userId)
      } finally {
        isReadingUnsure = false
      }
    },
  }
}
