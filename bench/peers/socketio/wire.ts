// The wire to Socket.IO. Signs of life are the answers to the pings of the server.
import type { Wire } from '../../load/wire.ts'
import { openWebSocketLine } from '../websocket-line.ts'
import { createTalk } from './talk.ts'

const PATH = '/socket.io/?EIO=4&transport=websocket'

export const socketioWire: Wire = {
  open: (target, options) =>
    openWebSocketLine(target, PATH, options, (say) => createTalk(target.token(options.user), options, say)),
}
