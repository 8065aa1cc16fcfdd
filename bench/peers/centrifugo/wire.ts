// The wire to Centrifugo. Signs of life are the answers to the pings of the server. Never run, see talk.ts.
import type { Wire } from '../../load/wire.ts'
import { openWebSocketLine } from '../websocket-line.ts'
import { createTalk } from './talk.ts'

const PATH = '/connection/websocket'

export const centrifugoWire: Wire = {
  open: (target, options) =>
    openWebSocketLine(target, PATH, options, (say) => createTalk(target.token(options.user), options, say)),
}
