// Events as one viewer sees them, by the one evaluator. A record of the log says only that something may be different: what
// the viewer sees is read now, compared with what the viewer was told last, and the difference is the event. So a change
// that the viewer may not see leaves no trace, and a user who hides goes offline for this viewer. Hidden users that were
// compared are remembered too: the viewer's own settings and contacts may reveal them.
import type { Presence } from '@greendot/protocol'
import type { Archive, ToldView, Webhook } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { PrivacyRules } from '../presence/core/privacy.ts'
import { unknownPresence } from '../presence/core/view.ts'
import type { ViewerReader } from '../presence/reading/viewer-reader.ts'
import { deliveryOf } from './deliveries.ts'
import { eventsOf, isListed, type View, type ViewChange } from './events.ts'

/** Users that are compared at a time. */
const USERS_PER_STEP = 50
const ATTEMPTS_MAX = 20

/** Something about this user may be different now. */
export interface Hint {
  user_id: string
  at: number
  /** Of a visible change. */
  version?: number
  /** Who may see this user, or whom this user has as contacts, has changed too. */
  audience_changed?: true | undefined
}

export interface ViewerEvents {
  /** Keeps what this webhook's viewer is to be told. Rejects where it cannot be read; then nothing may be missing. */
  keep(webhook: Webhook, hints: readonly Hint[]): Promise<void>
}

export interface ViewerEventsParts {
  archive: Archive
  viewerReader: ViewerReader
  rules: PrivacyRules
  clock: Pick<Clock, 'now'>
}

export function createViewerEvents(parts: ViewerEventsParts): ViewerEvents {
  const { archive, viewerReader, rules, clock } = parts

  /** What the viewer sees of this user now; as of an unknown user where the filter leaves the user out. */
  async function seen({ filter }: Webhook, userId: string): Promise<Presence> {
    const { contactsOf, viewerId } = filter
    const pair = { ownerId: contactsOf ?? '', contactId: userId }
    const isContact = contactsOf === null || (await archive.areContacts([pair]))[0]
    if (!isContact) return unknownPresence(userId, rules.hiddenAs)
    const { presence, isDegraded } = await viewerReader.seenBy(viewerId!, userId)
    if (isDegraded) throw new Error('what a viewer sees cannot be read now')
    return presence
  }

  async function compare(webhook: Webhook, hints: ReadonlyMap<string, Hint>): Promise<boolean> {
    const told = new Map<string, ToldView>()
    for (const one of await archive.webhooks.told(webhook.id, [...hints.keys()])) told.set(one.userId, one)
    const changes: ViewChange[] = []
    const views: ToldView[] = []
    for (const [userId, hint] of hints) {
      const presence = await seen(webhook, userId)
      const last = told.get(userId)
      const before = last ?? toView(unknownPresence(userId, rules.hiddenAs))
      const after = toView(presence)
      const isChanged = !isSame(before, after)
      if (!isChanged && last !== undefined) continue
      const now = clock.now()
      // By the clock, so that numbers and ids do not repeat when what was told is forgotten.
      const order = Math.max(now, (last?.order ?? 0) + 1)
      const { version } = presence
      const at = hint.version === version ? hint.at : now
      if (isChanged) changes.push({ userId, order, version, at, before, after })
      views.push({ webhookId: webhook.id, userId, order, version, ...after })
    }
    const now = clock.now()
    const deliveries = changes.flatMap((change) =>
      deliveryOf(webhook, change, eventsOf(webhook, change), now),
    )
    return archive.webhooks.keep(deliveries, views, webhook.updatedAt)
  }

  async function keepSome(webhook: Webhook, hints: ReadonlyMap<string, Hint>): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) if (await compare(webhook, hints)) return
    throw new Error(`gave up after ${ATTEMPTS_MAX} conflicts`)
  }

  /** The viewer's own settings and contacts decide about all users that were compared before. */
  async function keepAllTold(webhook: Webhook): Promise<void> {
    for (let afterId = ''; ; ) {
      const userIds = await archive.webhooks.toldUsers(webhook.id, afterId, USERS_PER_STEP)
      if (userIds.length === 0) return
      const at = clock.now()
      const listed = userIds.filter((userId) => isListed(webhook.filter, userId))
      if (listed.length > 0)
        await keepSome(webhook, new Map(listed.map((user_id) => [user_id, { user_id, at }])))
      afterId = userIds.at(-1)!
    }
  }

  return {
    async keep(webhook, hints) {
      const { filter } = webhook
      const byUser = new Map<string, Hint>()
      for (const hint of hints) if (isListed(filter, hint.user_id)) byUser.set(hint.user_id, hint)
      if (byUser.size > 0) await keepSome(webhook, byUser)
      const isAboutViewer = hints.some(
        ({ user_id, version, audience_changed }) =>
          (version === undefined || audience_changed) &&
          (user_id === filter.viewerId || user_id === filter.contactsOf),
      )
      if (isAboutViewer) await keepAllTold(webhook)
    },
  }
}

const toView = ({ status, devices, custom_status }: Presence): View => ({
  status,
  devices,
  customStatus: custom_status,
})

const isSame = (one: View, other: View): boolean =>
  one.status === other.status &&
  one.devices.join() === other.devices.join() &&
  JSON.stringify(one.customStatus) === JSON.stringify(other.customStatus)
