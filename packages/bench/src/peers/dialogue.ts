// A talk is one user's side of a conversation with a server, apart from the socket that carries it: pure
// enough to be tested word by word.

/** Sends a text and says how many bytes that took. */
export type Say = (text: string) => number

export interface Talk<Heard> {
  /** The connection is open. */
  begin(): void
  /** Bytes are only good until it returns. */
  hear(what: Heard): void
  change(serial: number): void
}
