// The wire to Centrifugo. Signs of life are the answers to the pings of the server. Never run, see talk.ts.
import type { Wire } from '../../wires/wire.ts'
import { openWebSocketLine } from '../websocket-connection.ts'
import { createTalk } from './dialogue.ts'

const PATH = '/connection/websocket'

export const centrifugoWire: Wire = {
  open: (target, options) =>
    openWebSocketLine(target, PATH, options, (say) => createTalk(target.token(options.user), options, say)),
}
