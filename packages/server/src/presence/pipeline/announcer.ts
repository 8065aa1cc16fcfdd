// After a commit: which gateways must hear of it, and what must be written first. A departure and a setting
// are in the archive before they are announced or answered. Where nothing but the archive outlives the
// process, an arrival is in the archive before it is announced too: a watcher is never told of a version
// that a crash would forget. Later changes of a user may overtake one that waits; versions order them.
import type { Bus, BusMessage } from '../../bus/port.ts'
import type { Policy } from '../core/policy.ts'
import { type PrivacyRules, visibilityInputsOf } from '../core/privacy.ts'
import { isBare, type UserRecord } from '../core/record.ts'
import { toOwnPresence, toPresence } from '../core/view.ts'
import { toLastSeenRow, toSettingsRow } from '../reading/archived-user.ts'
import type { Archivist } from './archivist.ts'

export interface Transition {
  userId: string
  before: UserRecord
  after: UserRecord
  revision: number
  interested: readonly string[]
  /** An earlier commit may be unannounced: announce the present state, changed or not. */
  isRepeated: boolean
}

export interface Announcer {
  /** Publishes the transitions of one batch; `done` is called for each once its caller may be answered. */
  announce<T extends Transition>(transitions: readonly T[], now: number, done: (transition: T) => void): void
}

export interface AnnouncerParts {
  bus: Bus
  archivist: Archivist
  policy: Policy
  rules: PrivacyRules
  /** The hot store dies with the process, so versions that were announced must be in the archive. */
  isStoreVolatile: boolean
  /** The user changed, or who may see the user did. */
  onChange?: ((userId: string, record: UserRecord) => void) | undefined
}

/** What a transition waits for: its rows, and whether the caller waits as well. */
interface Writes {
  rows: Promise<unknown>
  isAnswerHeld: boolean
}

export function createAnnouncer(parts: AnnouncerParts): Announcer {
  const { bus, archivist, policy, rules, isStoreVolatile, onChange } = parts

  /** Starts the writes a transition needs; null when it can be announced at once. */
  function persist(transition: Transition, now: number): Writes | null {
    const { userId, before, after, isRepeated } = transition
    // An erased user has no rows, also when the mark is announced again.
    if (isBare(after)) return null
    const isChosen =
      before.availability !== after.availability ||
      before.customStatus !== after.customStatus ||
      before.awayAfter !== after.awayAfter ||
      before.privacy !== after.privacy
    const isGone = after.shown.status === 'offline'
    const isArrivingOrGone = isGone || before.shown.status === 'offline'
    const rows: (Promise<void> | null)[] = []
    if (isRepeated || ((isArrivingOrGone || isChosen) && after.version !== before.version)) {
      const row = toLastSeenRow(userId, after, now)
      if (isGone || isChosen) rows.push(archivist.lastSeen(row))
      else {
        const written = archivist.lastSeenSoon(row)
        if (isStoreVolatile) rows.push(written)
      }
    } else if (isStoreVolatile) rows.push(archivist.lastSeenPending(userId))
    const isAnswerHeld = isChosen || isGone || isRepeated
    if (isChosen || (isRepeated && hasAnySetting(after)))
      rows.push(archivist.settings(toSettingsRow(userId, after)))
    const held = rows.filter((row) => row !== null)
    return held.length === 0 ? null : { rows: Promise.all(held), isAnswerHeld }
  }

  function publish(transitions: readonly Transition[], now: number): void {
    const byGateway = new Map<string, BusMessage[]>()
    for (const transition of transitions) {
      for (const [gatewayId, message] of messagesOf(transition, now, policy, rules)) {
        const messages = byGateway.get(gatewayId)
        if (messages === undefined) byGateway.set(gatewayId, [message])
        else messages.push(message)
      }
    }
    for (const [gatewayId, messages] of byGateway) bus.publish(gatewayId, messages)
  }

  return {
    announce<T extends Transition>(transitions: readonly T[], now: number, done: (transition: T) => void) {
      const ready: T[] = []
      const waiting: T[] = []
      const unanswered: T[] = []
      const rows: Promise<unknown>[] = []
      for (const transition of transitions) {
        if (transition.after.version !== transition.before.version || hasNewInputs(transition))
          onChange?.(transition.userId, transition.after)
        const writes = persist(transition, now)
        if (writes === null) ready.push(transition)
        else {
          waiting.push(transition)
          rows.push(writes.rows)
          if (writes.isAnswerHeld) unanswered.push(transition)
          else done(transition)
        }
      }
      publish(ready, now)
      for (const transition of ready) done(transition)
      if (waiting.length === 0) return
      void Promise.all(rows).then(() => {
        publish(waiting, now)
        for (const transition of unanswered) done(transition)
      })
    },
  }
}

const hasAnySetting = ({ availability, customStatus, awayAfter, privacy }: UserRecord): boolean =>
  [availability, customStatus, awayAfter, privacy].some((setting) => setting !== null)

/** Who may see the user changed: some viewers notice, though the user did not change. */
function hasNewInputs({ before, after }: Transition): boolean {
  return before.privacy !== after.privacy || before.contactsAt !== after.contactsAt
}

function messagesOf(
  transition: Transition,
  now: number,
  policy: Policy,
  rules: PrivacyRules,
): [string, BusMessage][] {
  const { userId, before, after, revision, interested, isRepeated } = transition
  const messages: [string, BusMessage][] = []
  const own = ownGateways(transition)
  const isForAll = isRepeated || hasNewInputs(transition)
  // Gateways that hold the user's own connections need the inputs too: reciprocity goes by them.
  const informed = isForAll ? new Set([...interested, ...own]) : interested
  if ((isForAll || after.version !== before.version) && sizeOf(informed) > 0) {
    const json = JSON.stringify(toPresence(userId, after, rules.hiddenAs))
    const { version } = after
    const inputs = visibilityInputsOf(after)
    const change: BusMessage = { kind: 'change', userId, version, at: now, json, inputs }
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
function ownGateways({ before, after }: Transition): ReadonlySet<string> {
  const own = new Set<string>()
  for (const session of after.sessions) {
    const isNew = !before.sessions.some(({ id }) => id === session.id)
    if (session.end.state === 'live' && !isNew) own.add(session.gatewayId)
  }
  return own
}

const sizeOf = (gateways: readonly string[] | ReadonlySet<string>): number =>
  'size' in gateways ? gateways.size : gateways.length
