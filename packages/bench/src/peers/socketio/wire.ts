// The wire to Socket.IO. Signs of life are the answers to the pings of the server.
import type { Wire } from '../../wires/wire.ts'
import { openWebSocketConnection } from '../websocket-connection.ts'
import { createDialogue } from './dialogue.ts'

const PATH = '/socket.io/?EIO=4&transport=websocket'

export const socketioWire: Wire = {
  open: (target, options) =>
    openWebSocketConnection(target, PATH, options, (send) =>
      createDialogue(target.token(options.user), options, send),
    ),
}
