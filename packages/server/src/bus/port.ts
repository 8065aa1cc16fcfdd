// Bus: messages to one gateway. A gateway has exactly one inbound subscription, whatever it watches.
// Delivery is at most once and may repeat after a reconnect; versions make both harmless.

/** A visible change of one user, serialised once where it was decided. */
export interface ChangeMessage {
  kind: 'change'
  userId: string
  version: number
  /** When the change became true; what propagation is measured from. */
  at: number
  /** The presence object as JSON. */
  json: string
}

/** A user's own view changed: for the sessions of that user on this gateway. */
export interface SelfMessage {
  kind: 'self'
  userId: string
  /** Own views carry the record's revision, because they change more often than the version. */
  revision: number
  json: string
}

export type BusMessage = ChangeMessage | SelfMessage

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
