// A dialogue is one user's side of a conversation with a server, apart from the socket that carries it: pure
// enough to be tested word by word.

/** Sends a text, or bytes, and says how many bytes that took. */
export type Send<What = string> = (what: What) => number

export interface Dialogue<Heard> {
  /** The connection is open. */
  begin(): void
  /** Bytes are only good until it returns. */
  receive(what: Heard): void
  change(serial: number): void
}
