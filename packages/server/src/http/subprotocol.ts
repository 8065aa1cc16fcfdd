// Chooses the encoding of a WebSocket from the subprotocols that the client offers. Compact wins wherever it is in the
// list: clients name JSON first, because servers that know neither answer with the first name.
import { type Encoding, SUBPROTOCOL_COMPACT, SUBPROTOCOL_JSON } from '@greendot/protocol'

export interface Negotiated {
  encoding: Encoding
  /** For the answer. */
  headers: Record<string, string>
}

const NOTHING_OFFERED: Negotiated = { encoding: 'json', headers: {} }
const answer = (encoding: Encoding, name: string): Negotiated => ({
  encoding,
  headers: { 'sec-websocket-protocol': name },
})
const COMPACT = answer('compact', SUBPROTOCOL_COMPACT)
const JSON_TEXT = answer('json', SUBPROTOCOL_JSON)
/** An empty value keeps the runtime from agreeing to a name that it does not know. */
const NONE_KNOWN = answer('json', '')

export function negotiate(offered: string | null): Negotiated {
  if (offered === null) return NOTHING_OFFERED
  const names = offered.split(',').map((name) => name.trim())
  if (names.includes(SUBPROTOCOL_COMPACT)) return COMPACT
  return names.includes(SUBPROTOCOL_JSON) ? JSON_TEXT : NONE_KNOWN
}
