// The wire to Centrifugo. Signs of life are the answers to the pings of the server. Never run, see dialogue.ts.
import type { Wire } from '../../wires/wire.ts'
import { openWebSocketConnection } from '../websocket-connection.ts'
import { createDialogue } from './dialogue.ts'

const PATH = '/connection/websocket'

export const centrifugoWire: Wire = {
  open: (target, options) =>
    openWebSocketConnection(target, PATH, options, (send) =>
      createDialogue(target.token(options.user), options, send),
    ),
}
