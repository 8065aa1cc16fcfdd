// How presence objects become frames: JSON, or the compact encoding on connections that negotiated it. Objects come
// as text in the encoding of the connection, so the same text is shared by all connections of that encoding.
import {
  COMPACT_CHANGE,
  COMPACT_SEPARATOR,
  COMPACT_STATE,
  compactPresence,
  type Encoding,
} from '@greendot/protocol'

export type { Encoding } from '@greendot/protocol'

export const changeFrame = (objects: readonly string[], encoding: Encoding): string =>
  encoding === 'compact' && objects.length > 0
    ? COMPACT_CHANGE + objects.join(COMPACT_SEPARATOR)
    : `{"type":"presence_change","changes":[${objects.join(',')}]}`

/** An empty list has no compact form. */
export const stateFrame = (objects: readonly string[], encoding: Encoding): string =>
  encoding === 'compact' && objects.length > 0
    ? COMPACT_STATE + objects.join(COMPACT_SEPARATOR)
    : `{"type":"presence_state","states":[${objects.join(',')}]}`

export const encoded = (json: string, encoding: Encoding): string =>
  encoding === 'compact' ? compactPresence(json) : json
