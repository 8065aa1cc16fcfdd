// A transport carries frames both ways and ends once. There are two: WebSockets (socket.ts), and HTTP for
// networks that block them (fallback.ts).
// Invariant: after `close`, and after `closed` was called, a transport calls back no more.
import type {
  Activity,
  ClientFrame,
  OwnPresence,
  Platform,
  ServerFrame,
  WelcomeFrame,
} from '@greendot/protocol'

/** HTTP has no welcome frame; the one built from answers may lack these fields. */
export type Welcome = Omit<WelcomeFrame, 'user_id' | 'self'> & {
  user_id: string | null
  self: OwnPresence | null
}
export type Incoming = Exclude<ServerFrame, WelcomeFrame> | Welcome

/** Server and device, the same for every connection. */
export interface Address {
  /** Without a trailing slash. */
  url: string
  deviceId: string
  platform: Platform
}

export interface Ticket {
  token: string
  activity: Activity
}

/**
 * `left`: this device has left. `disconnected`: the backend of the app ended the session. `refused`: the token is
 * not accepted. `silent`: the server missed our heartbeats. `too_often`: we sent too many frames. `lost`: everything
 * else.
 */
export type CloseReason = Gone | 'refused' | 'silent' | 'too_often' | 'lost'

/** Final: there is no connection until the app asks for one. */
export type Gone = 'left' | 'disconnected'

export const isGone = (state: string): state is Gone => state === 'left' || state === 'disconnected'

export interface TransportEvents {
  frame(frame: Incoming): void
  closed(why: CloseReason): void
}

export interface Transport {
  send(frame: ClientFrame): void
  /** Closes without `leave`. */
  close(): void
}

export type Dial = (ticket: Ticket, on: TransportEvents) => Transport
