// Bus: messages to one gateway. A gateway has exactly one inbound subscription, however many users it
// watches. Messages may be lost, and may repeat after a reconnect; versions make both harmless.
import type { ErrorCode } from '@greendot/protocol'
import type { VisibilityInputs } from '../presence/core/privacy.ts'
import type { AwayAfterSetting, UserRecord } from '../presence/core/record.ts'

/** A visible change of one user, serialised once by the process that decided it. */
export interface ChangeMessage {
  kind: 'change'
  userId: string
  version: number
  /** When the change became true. Propagation is measured from here. */
  at: number
  /** The whole presence object as JSON. The gateway of each viewer decides what that viewer gets of it. */
  json: string
  /** Who may see it as of this change; null for a user without privacy settings and without an edited contact list. */
  inputs: VisibilityInputs | null
  /** By which the gateway continues the trace of the change, where it is traced (W3C Trace Context). */
  trace?: string
}

/** A user's own view changed: for the sessions of that user on this gateway. */
export interface SelfMessage {
  kind: 'self'
  userId: string
  /** Own views carry the record's revision, because they change more often than the version. */
  revision: number
  isInvisible: boolean
  json: string
}

/** A setting that the gateways holding the user's sessions act on. */
export interface SettingsMessage {
  kind: 'settings'
  userId: string
  awayAfter: AwayAfterSetting | null
}

/** A user was erased: their sessions end, and gateways forget them. */
export interface ErasedMessage {
  kind: 'erased'
  userId: string
  /** Above every version ever shown, so that late messages about the user are ignored. */
  version: number
  at: number
}

/**
 * A user left whose settings are not known, so nothing may be told of the user. Watchers that were shown the user as
 * present learn that nothing is known any more.
 */
export interface GoneMessage {
  kind: 'gone'
  userId: string
  /** Above every version ever shown. */
  version: number
  at: number
}

/** The owner of a user answers a process that asked for an update through the log. */
export interface AnswerMessage {
  kind: 'answer'
  userId: string
  /** By which the process that asked knows what is answered. */
  ref: string
  answer: { record: UserRecord; revision: number } | { refused: string }
}

/** The app disconnected a user: every process refuses older tokens, and gateways end the connections. */
export interface DisconnectMessage {
  kind: 'disconnect'
  userId: string
  disconnect: Disconnect
}

export interface Disconnect {
  /** Null for all devices. */
  deviceId: string | null
  /** Sessions that began later are not meant, unless their token is refused. */
  at: number
  /** Tokens that were issued before are refused. It is `at` by the clock of tokens. */
  issuedBefore: number
  /** Until then. Null if tokens are not refused. */
  until: number | null
  reason: string | null
}

/** A device said goodbye elsewhere: its sessions on this gateway are over. */
export interface LeftMessage {
  kind: 'left'
  userId: string
  deviceId: string
  /** Sessions that began later are not meant. */
  at: number
}

/** A batch of a foreign gateway, to the process that holds its sessions. */
export interface ForeignMessage {
  kind: 'foreign'
  /** The process that waits for the answer, under the name `ref`. */
  from: string
  ref: string
  /** The batch on one line. */
  text: string
}

export interface ForeignAnswerMessage {
  kind: 'foreign_answer'
  ref: string
  /** Entries of the batch that were refused, by their position. Null: the holder has the batch, and an answer follows. */
  rejections: readonly { index: number; code: ErrorCode; message: string }[] | null
}

export type BusMessage =
  | ChangeMessage
  | SelfMessage
  | SettingsMessage
  | ErasedMessage
  | GoneMessage
  | AnswerMessage
  | DisconnectMessage
  | LeftMessage
  | ForeignMessage
  | ForeignAnswerMessage

export interface Bus {
  /** Whether the messages are on their way; otherwise the gateway will be told of the gap. Never fails. */
  publish(gatewayId: string, messages: readonly BusMessage[]): Promise<boolean>
  /**
   * Returns a function that ends the subscription. `onBreak` is called when an interruption is noticed, and `onGap`
   * after every interruption: messages may be missing.
   */
  subscribe(
    gatewayId: string,
    receive: (messages: readonly BusMessage[]) => void,
    onGap?: () => void,
    onBreak?: () => void,
  ): Promise<() => void>
  close(): Promise<void>
}
