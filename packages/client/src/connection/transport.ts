// What a connection is to the rest: frames go in, frames come out, and it ends once. WebSockets are one
// kind (socket.ts); where they are blocked, plain requests look the same from here (fallback.ts).
// Invariant: after `close`, and after `closed` was called, nothing is heard of a connection any more.
import type {
  Activity,
  ClientFrame,
  OwnPresence,
  Platform,
  ServerFrame,
  WelcomeFrame,
} from '@greendot/protocol'

/** By HTTP there is no welcome; what stands in for it may lack what requests do not answer. */
export type Welcome = Omit<WelcomeFrame, 'user_id' | 'self'> & {
  user_id: string | null
  self: OwnPresence | null
}
export type Incoming = Exclude<ServerFrame, WelcomeFrame> | Welcome

/** Where to connect, the same for every connection of a device. */
export interface Address {
  /** Without a slash at its end. */
  url: string
  deviceId: string
  platform: Platform
}

export interface Ticket {
  token: string
  activity: Activity
}

/**
 * `left` after a goodbye of this device, `refused` for want of a good token, `silent` because we were,
 * `too_often` because we were not, and `lost` for everything else.
 */
export type Ending = 'left' | 'refused' | 'silent' | 'too_often' | 'lost'

export interface TransportEvents {
  frame(frame: Incoming): void
  closed(why: Ending): void
}

export interface Transport {
  send(frame: ClientFrame): void
  /** Without a goodbye. */
  close(): void
}

export type Dial = (ticket: Ticket, on: TransportEvents) => Transport
