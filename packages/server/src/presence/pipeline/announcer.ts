// After a commit: who must hear of it, and what must be written first. A change that leaves or
// finds somebody offline is archived before it is announced, so that what people saw survives a
// crash. Later changes of the same user may overtake one that waits; versions put that right at
// the receiving end.
import type { Bus, BusMessage } from '../../bus/port.ts'
import type { Policy } from '../core/policy.ts'
import { discretionOf, type PrivacyRules, UNGUARDED } from '../core/privacy.ts'
import { isBare, type UserRecord } from '../core/record.ts'
import { toOwnPresence, toPresence } from '../core/view.ts'
import { toLastSeenRow, toSettingsRow } from '../reading/hydrate.ts'
import type { Archivist } from './archivist.ts'

export interface Transition {
  userId: string
  before: UserRecord
  after: UserRecord
  revision: number
  interested: readonly string[]
  /** Whoever committed before may have died before it told anybody: say it again, changed or not. */
  isRepeated: boolean
}

export interface Announcer {
  /** Publishes the transitions of one batch; `done` is called for each once it is out. */
  announce<T extends Transition>(transitions: readonly T[], now: number, done: (transition: T) => void): void
}

export function createAnnouncer(parts: {
  bus: Bus
  archivist: Archivist
  policy: Policy
  rules: PrivacyRules
  onChange?: ((userId: string, record: UserRecord) => void) | undefined
}): Announcer {
  const { bus, archivist, policy, rules, onChange } = parts

  /** Starts the writes a transition needs; null when nobody has to wait for them. */
  function persist(transition: Transition, now: number): Promise<unknown> | null {
    const { userId, before, after, isRepeated } = transition
    // Somebody who was erased has no rows, whoever says again what is left of them.
    if (isBare(after)) return null
    const isChosen =
      before.availability !== after.availability ||
      before.customStatus !== after.customStatus ||
      before.awayAfter !== after.awayAfter ||
      before.privacy !== after.privacy
    const isGone = after.shown.status === 'offline'
    let durable: Promise<unknown> | null = null
    // What somebody here chose to show is in their row too, should we crash.
    const isCrossing = isGone || before.shown.status === 'offline' || isChosen
    if (isRepeated || (isCrossing && after.version !== before.version)) {
      const row = toLastSeenRow(userId, after, now)
      // That somebody came only matters should we crash; nobody waits for it.
      if (isGone || isChosen) durable = archivist.lastSeen(row)
      else archivist.lastSeenSoon(row)
    }
    const { availability, customStatus, awayAfter, privacy } = after
    const hasSettings = [availability, customStatus, awayAfter, privacy].some((setting) => setting !== null)
    if (!isChosen && !(isRepeated && hasSettings)) return durable
    return Promise.all([durable, archivist.settings(toSettingsRow(userId, after))])
  }

  function send<T extends Transition>(transitions: readonly T[], now: number, done: (transition: T) => void) {
    const byGateway = new Map<string, BusMessage[]>()
    for (const transition of transitions) {
      for (const [gatewayId, message] of messagesOf(transition, now, policy, rules)) {
        const messages = byGateway.get(gatewayId)
        if (messages === undefined) byGateway.set(gatewayId, [message])
        else messages.push(message)
      }
    }
    for (const [gatewayId, messages] of byGateway) bus.publish(gatewayId, messages)
    for (const transition of transitions) done(transition)
  }

  return {
    announce<T extends Transition>(transitions: readonly T[], now: number, done: (transition: T) => void) {
      const ready: T[] = []
      const waiting: T[] = []
      const writes: Promise<unknown>[] = []
      for (const transition of transitions) {
        if (transition.after.version !== transition.before.version || isGuardedAnew(transition))
          onChange?.(transition.userId, transition.after)
        const durable = persist(transition, now)
        if (durable === null) ready.push(transition)
        else {
          waiting.push(transition)
          writes.push(durable)
        }
      }
      if (ready.length > 0) send(ready, now, done)
      if (waiting.length > 0) void Promise.all(writes).then(() => send(waiting, now, done))
    },
  }
}

/** Who may see the person changed, which some viewers notice though the person did not change. */
function isGuardedAnew({ before, after }: Transition): boolean {
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
  const hasNews = isRepeated || isGuardedAnew(transition)
  if ((hasNews || after.version !== before.version) && interested.length > 0) {
    const json = JSON.stringify(toPresence(userId, after, rules.hiddenAs))
    const { version } = after
    const discretion = discretionOf(after)
    const change: BusMessage = { kind: 'change', userId, version, at: now, json, discretion }
    for (const gatewayId of interested) messages.push([gatewayId, change])
  }
  // A session that is new here gets its own view with the welcome; the others hear of it now.
  const own = new Set<string>()
  for (const session of after.sessions) {
    const isNew = !before.sessions.some(({ id }) => id === session.id)
    if (session.end.state === 'live' && !isNew) own.add(session.gatewayId)
  }
  if (own.size === 0) return messages
  if (hasNews || before.awayAfter !== after.awayAfter) {
    const { awayAfter } = after
    const discretion = discretionOf(after) ?? UNGUARDED
    for (const gatewayId of own)
      messages.push([gatewayId, { kind: 'choices', userId, awayAfter, discretion }])
  }
  const view = toOwnPresence(userId, after, now, policy)
  const json = JSON.stringify(view)
  // The version is in it, so that mostly there is nothing to compare. The former own view is taken at the
  // instant it was settled, so that an expiry shows as a change.
  const hasNewVersion = view.version === after.version && after.version !== before.version
  const isSame = () => json === JSON.stringify(toOwnPresence(userId, before, before.settledAt, policy))
  if (isRepeated || hasNewVersion || !isSame()) {
    for (const gatewayId of own) messages.push([gatewayId, { kind: 'self', userId, revision, json }])
  }
  return messages
}
