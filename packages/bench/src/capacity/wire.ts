// Bytes of a message on the wire, with TLS and the packets of both directions. What is sent in several segments has a
// packet around each of them, and every segment is acknowledged by a packet the other way.
import type { Sheet } from './sheet.ts'

export interface Wire {
  /** In the direction of the message. */
  sent(bytes: number): number
  /** In the other direction. */
  acknowledged(bytes: number): number
  bothWays(bytes: number): number
}

/** Only inside the formula of a figure, as the constants are. */
export function wireOf({ constant }: Sheet): Wire {
  const segments = (bytes: number) => Math.ceil((bytes + constant('tls_bytes')) / constant('segment_bytes'))
  const acknowledged = (bytes: number) => segments(bytes) * constant('packet_bytes')
  const sent = (bytes: number) => bytes + constant('tls_bytes') + segments(bytes) * constant('packet_bytes')
  return { sent, acknowledged, bothWays: (bytes) => sent(bytes) + acknowledged(bytes) }
}
