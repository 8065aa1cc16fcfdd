// Bytes of a message on the wire, with TLS and the packets of both directions. What is sent in several segments has a
// packet around each of them, and every segment is acknowledged by a packet the other way.
import type { Encoding } from '@greendot/protocol'
import type { ConstantName } from './constant-names.ts'
import type { Sheet } from './sheet.ts'

/** What has another size in the other encoding. The welcome and the own view are JSON in both. */
export const SIZES = {
  json: { beat: 'beat_bytes', state: 'state_bytes', change: 'change_bytes', frame: 'frame_bytes' },
  compact: {
    beat: 'compact_beat_bytes',
    state: 'compact_state_bytes',
    change: 'compact_change_bytes',
    frame: 'compact_frame_bytes',
  },
} as const satisfies Record<Encoding, Record<string, ConstantName>>

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
