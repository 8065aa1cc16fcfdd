// After a commit: which gateways must hear of it, and which rows it needs. With a shared store gateways are told at
// once, because the store remembers until both are done (see `owed`). Where nothing but the archive outlives the
// process, the rows come first: a watcher is never told of a version that a crash would forget. Later changes of
// a user may overtake one that waits; versions order them. Settings are in the archive before their commit.
import type { Bus, BusMessage, ChangeMessage } from '../../bus/port.ts'
import type { Span } from '../../platform/measuring/tracing.ts'
import { createRecentMap } from '../../platform/recent-map.ts'
import type { Duty, Owed } from '../../store/port.ts'
import type { Policy } from '../core/policy.ts'
import { type PrivacyRules, visibilityInputsOf } from '../core/privacy.ts'
import { hasAnySetting, isBare, type UserRecord } from '../core/record.ts'
import { toOwnPresence, toPresence } from '../core/view.ts'
import { toLastSeenRow, toSettingsRow } from '../reading/archived-user.ts'
import type { Archivist } from './archivist.ts'
import type { Duties } from './duties.ts'

export interface Transition {
  userId: string
  before: UserRecord
  after: UserRecord
  revision: number
  interested: readonly string[]
  /** An earlier commit may be unannounced: announce the present state, changed or not. */
  isRepeated: boolean
  /** The revision of an earlier commit that is not announced yet, as far as the store knows. */
  unannounced?: number
  /** Ended once gateways are told; null or absent where the change is not traced. */
  span?: Span | null
}

export interface Announcer {
  /** What the store must remember until `announce` has done it. */
  owed(transition: Pick<Transition, 'before' | 'after' | 'isRepeated'>, now: number): Owed | undefined
  /** Publishes the transitions of one batch; `done` is called for each once its caller may be answered. */
  announce<T extends Transition>(transitions: readonly T[], now: number, done: Done<T>): void
}

/** `isTold` is false where gateways could not be told of a user who hides: they may still show the user. */
export type Done<T extends Transition> = (transition: T, isTold?: boolean) => void

export interface AnnouncerParts {
  bus: Bus
  archivist: Archivist
  duties: Duties
  policy: Policy
  rules: PrivacyRules
  /** The hot store dies with the process, so versions that were announced must be in the archive. */
  isStoreVolatile: boolean
  /**
   * With a volatile store: what else must be durable before a change that is in the log is announced. Null when nothing
   * is to be waited for.
   */
  beforeAnnouncing?: (() => Promise<unknown> | null) | undefined
  /** The user changed, or who may see the user did. */
  onChange?: ((userId: string, record: UserRecord) => void) | undefined
}

type Change = Pick<Transition, 'before' | 'after' | 'isRepeated'>

/** Past this time a sweeper announces what has an open duty. */
const ANNOUNCED_MS = 2_000
const ANNOUNCED_MAX = 100_000

const BOTH: readonly Duty[] = ['announce', 'archive']
const ARCHIVE: readonly Duty[] = ['archive']
const ANNOUNCE: readonly Duty[] = ['announce']

export function createAnnouncer(parts: AnnouncerParts): Announcer {
  const { bus, archivist, duties, policy, rules, isStoreVolatile, beforeAnnouncing, onChange } = parts
  /** The last commit of each user that this process announces, for as long as its duty may be open. */
  const announced = createRecentMap<number>(ANNOUNCED_MAX, ANNOUNCED_MS)

  /** Whether a commit of another process is not announced yet. That process may have died. */
  const isOfAnother = ({ userId, unannounced }: Transition): boolean =>
    unannounced !== undefined && announced.get(userId) !== unannounced

  /** Starts the writes a transition needs. The result is whether all were written; null when it needs none. */
  function persist(transition: Transition, now: number): Promise<boolean> | null {
    const { userId, after } = transition
    const writes: Promise<boolean>[] = []
    if (needsRow(transition)) {
      const row = toLastSeenRow(userId, after, now)
      writes.push(isUrgent(transition) ? archivist.lastSeen(row) : archivist.lastSeenSoon(row))
    } else if (isStoreVolatile) {
      const earlier = archivist.lastSeenPending(userId)
      if (earlier !== null) writes.push(earlier)
    }
    // Settings were written before the commit, unless another process made its choice at the same time.
    if (needsSettings(transition))
      writes.push(archivist.settings(toSettingsRow(userId, after)).then(written, unwritten))
    if (writes.length <= 1) return writes[0] ?? null
    return Promise.all(writes).then((all) => all.every((isWritten) => isWritten))
  }

  /** Whether all messages are on their way. */
  function publish(transitions: readonly Transition[], now: number): Promise<boolean> {
    const byGateway = new Map<string, BusMessage[]>()
    let traced: { span: Span; publishing: Span }[] | null = null
    for (const transition of transitions) {
      const { span } = transition
      const publishing = span?.child('bus.publish')
      if (span && publishing) {
        traced ??= []
        traced.push({ span, publishing })
      }
      for (const [gatewayId, message] of messagesOf(transition, now, policy, rules, publishing)) {
        const messages = byGateway.get(gatewayId)
        if (messages === undefined) byGateway.set(gatewayId, [message])
        else messages.push(message)
      }
    }
    const published = Promise.all(
      Array.from(byGateway, ([gatewayId, messages]) => bus.publish(gatewayId, messages)),
    )
    if (traced !== null) void published.then(() => endAll(traced, byGateway.size))
    return published.then((sent) => sent.every(Boolean))
  }

  /**
   * Tells gateways at once. The store remembers what is not done yet. A user who hides is answered when that is on its way
   * to the gateways, and all others by the commit.
   */
  function announceShared<T extends Transition>(transitions: readonly T[], now: number, done: Done<T>): void {
    const owing = transitions.filter(isToldOf)
    const told = transitions.map((one) => (isOfAnother(one) ? { ...one, isRepeated: true } : one))
    for (const { userId, revision } of owing) announced.set(userId, revision, now)
    const hiding = transitions.filter(hides)
    void publish(told, now).then((isTold) => {
      // What is not on its way is announced by a sweeper.
      if (isTold) for (const transition of owing) duties.done('announce', transition)
      for (const transition of hiding) done(transition, isTold)
    })
    for (const transition of transitions) if (!hides(transition)) done(transition)
    for (const transition of transitions)
      void persist(transition, now)?.then((isWritten) => isWritten && duties.done('archive', transition))
  }

  return {
    owed(change, now) {
      // The archive is still to be asked what the user chose.
      if (change.after.settings === 'unknown') return { duties: isStoreVolatile ? ARCHIVE : BOTH, since: now }
      if (isStoreVolatile || !isToldOf(change)) return undefined
      // Not for settings alone, which are in the archive already: there is one duty for each user, and this commit would
      // clear that of an earlier row.
      return { duties: needsRow(change) ? BOTH : ANNOUNCE, since: now }
    },
    announce<T extends Transition>(transitions: readonly T[], now: number, done: Done<T>) {
      for (const transition of transitions)
        if (transition.after.version !== transition.before.version || hasNewInputs(transition))
          onChange?.(transition.userId, transition.after)
      if (!isStoreVolatile) {
        announceShared(transitions, now, done)
        return
      }
      const ready: T[] = []
      const waiting: T[] = []
      const unanswered: T[] = []
      const rows: Promise<unknown>[] = []
      const kept = beforeAnnouncing?.() ?? null
      if (kept !== null) rows.push(kept)
      for (const transition of transitions) {
        const written = persist(transition, now)
        if (written === null && kept === null) ready.push(transition)
        else {
          waiting.push(transition)
          if (written !== null) rows.push(written)
          if (isUrgent(transition)) unanswered.push(transition)
          else done(transition)
        }
      }
      void publish(ready, now)
      for (const transition of ready) done(transition)
      if (waiting.length === 0) return
      void Promise.all(rows).then(() => {
        void publish(waiting, now)
        for (const transition of unanswered) done(transition)
      })
    },
  }
}

function endAll(traced: readonly { span: Span; publishing: Span }[] | null, gateways: number): void {
  for (const { span, publishing } of traced ?? []) {
    publishing.end({ gateways })
    span.end({ changed: true })
  }
}

/** Whether the last-seen row changes. An erased user has no row, also when the mark is announced again. */
function needsRow({ before, after, isRepeated }: Change): boolean {
  if (isBare(after) || after.settings === 'unknown') return false
  if (isRepeated) return true
  if (after.version === before.version) return false
  return after.shown.status === 'offline' || before.shown.status === 'offline' || isChosen({ before, after })
}

const needsSettings = (change: Change): boolean =>
  !isBare(change.after) &&
  change.after.settings === 'known' &&
  (isChosen(change) || (change.isRepeated && hasAnySetting(change.after)))

const written = () => true
const unwritten = () => false

const isChosen = ({ before, after }: Pick<Change, 'before' | 'after'>): boolean =>
  before.availability !== after.availability ||
  before.customStatus !== after.customStatus ||
  before.awayAfter !== after.awayAfter ||
  before.privacy !== after.privacy ||
  before.history !== after.history

/** Rows of arrivals may gather for a moment. */
const isUrgent = (change: Change): boolean =>
  change.isRepeated || change.after.shown.status === 'offline' || isChosen(change)

/** Whether a gateway may have to hear of it: one with watchers, or one that holds a session of the user. */
function isToldOf(change: Change): boolean {
  const { before, after, isRepeated } = change
  if (after.settings === 'unknown' || isRepeated || hasNewInputs(change) || after.version !== before.version)
    return true
  return ownGateways(change).size > 0
}

/** Who may see the user changed: some viewers notice, though the user did not change. */
function hasNewInputs({ before, after }: Pick<Change, 'before' | 'after'>): boolean {
  return before.privacy !== after.privacy || before.contactsAt !== after.contactsAt
}

/** Some viewers may have to see less of the user from now on. */
const hides = (transition: Pick<Change, 'before' | 'after'>): boolean =>
  hasNewInputs(transition) || transition.before.availability !== transition.after.availability

function messagesOf(
  transition: Transition,
  now: number,
  policy: Policy,
  rules: PrivacyRules,
  publishing: Span | undefined,
): [string, BusMessage][] {
  const { userId, before, after, revision, interested, isRepeated } = transition
  const messages: [string, BusMessage][] = []
  const own = ownGateways(transition)
  const isForAll = isRepeated || hasNewInputs(transition)
  // Gateways that hold the user's own connections need the inputs too: reciprocity goes by them.
  const informed = isForAll ? new Set([...interested, ...own]) : interested
  if (after.settings === 'unknown') {
    // Only an end may be told: a ghost would stay otherwise.
    const { version } = after
    if (after.sessions.length === 0)
      for (const gatewayId of interested)
        messages.push([gatewayId, { kind: 'gone', userId, version, at: now }])
  } else if ((isForAll || after.version !== before.version) && sizeOf(informed) > 0) {
    const json = JSON.stringify(toPresence(userId, after, rules.hiddenAs))
    const { version } = after
    const inputs = visibilityInputsOf(after)
    const change: ChangeMessage = { kind: 'change', userId, version, at: now, json, inputs }
    if (publishing !== undefined) change.trace = publishing.traceparent
    for (const gatewayId of informed) messages.push([gatewayId, change])
  }
  if (own.size === 0) return messages
  if (isRepeated || before.awayAfter !== after.awayAfter) {
    const { awayAfter } = after
    for (const gatewayId of own) messages.push([gatewayId, { kind: 'settings', userId, awayAfter }])
  }
  const view = toOwnPresence(userId, after, now, policy)
  const json = JSON.stringify(view)
  // A new version is in the own view, so the two need not be compared. The former own view is taken at the
  // instant it was settled, so that an expiry shows as a change.
  const hasNewVersion = view.version === after.version && after.version !== before.version
  const isSame = () => json === JSON.stringify(toOwnPresence(userId, before, before.settledAt, policy))
  if (isRepeated || hasNewVersion || !isSame()) {
    const self: BusMessage = {
      kind: 'self',
      userId,
      revision,
      isInvisible: view.availability === 'invisible',
      json,
    }
    for (const gatewayId of own) messages.push([gatewayId, self])
  }
  return messages
}

/** Gateways with a live session of the user. A session that is new gets its own view with the welcome. */
function ownGateways({ before, after }: Pick<Change, 'before' | 'after'>): ReadonlySet<string> {
  const own = new Set<string>()
  for (const session of after.sessions) {
    const isNew = !before.sessions.some(({ id }) => id === session.id)
    if (session.end.state === 'live' && !isNew) own.add(session.gatewayId)
  }
  return own
}

const sizeOf = (gateways: readonly string[] | ReadonlySet<string>): number =>
  'size' in gateways ? gateways.size : gateways.length
