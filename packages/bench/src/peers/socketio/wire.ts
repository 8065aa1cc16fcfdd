// The wire to Socket.IO. Signs of life are the answers to the pings of the server.
import type { Wire } from '../../wires/wire.ts'
import { openWebSocketLine } from '../websocket-connection.ts'
import { createTalk } from './dialogue.ts'

const PATH = '/socket.io/?EIO=4&transport=websocket'

export const socketioWire: Wire = {
  open: (target, options) =>
    openWebSocketLine(target, PATH, options, (say) => createTalk(target.token(options.user), options, say)),
}
