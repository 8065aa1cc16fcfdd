// Bus: messages to one gateway. A gateway has exactly one inbound subscription, whatever it watches.
// Delivery is at most once and may repeat after a reconnect; versions make both harmless.
import type { VisibilityInputs } from '../presence/core/privacy.ts'
import type { AwayAfterSetting } from '../presence/core/record.ts'

/** A change of one user, visible to some at least, serialised once where it was decided. */
export interface ChangeMessage {
  kind: 'change'
  userId: string
  version: number
  /** When the change became true; what propagation is measured from. */
  at: number
  /** The whole presence object as JSON; what a viewer gets of it is decided where they are. */
  json: string
  /** Who may see it, as of this change; null for a user without privacy settings or an edited list. */
  inputs: VisibilityInputs | null
}

/** A user's own view changed: for the sessions of that user on this gateway. */
export interface SelfMessage {
  kind: 'self'
  userId: string
  /** Own views carry the record's revision, because they change more often than the version. */
  revision: number
  json: string
}

/** A setting that the gateways holding the user's sessions act on. */
export interface SettingsMessage {
  kind: 'settings'
  userId: string
  awayAfter: AwayAfterSetting | null
}

/** A user was erased: their sessions end, and nothing is known of them any more. */
export interface ErasedMessage {
  kind: 'erased'
  userId: string
  /** Above everything that was ever shown of them: what still comes of it is not news. */
  version: number
  at: number
}

export type BusMessage = ChangeMessage | SelfMessage | SettingsMessage | ErasedMessage

export interface Bus {
  publish(gatewayId: string, messages: readonly BusMessage[]): void
  /**
   * Returns the way to stop listening. `onGap` is called after every break in the subscription: messages
   * may have been missed.
   */
  subscribe(
    gatewayId: string,
    receive: (messages: readonly BusMessage[]) => void,
    onGap?: () => void,
  ): Promise<() => void>
  close(): Promise<void>
}
