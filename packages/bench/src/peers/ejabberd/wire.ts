// The wire to ejabberd: a TCP connection and a dialogue over it. All that ejabberd sends to the load is ASCII.
import type { Wire } from '../../wires/wire.ts'
import { openTcpConnection } from '../tcp-connection.ts'
import { HOST } from './configuration.ts'
import { createDialogue } from './dialogue.ts'

export const ejabberdWire: Wire = {
  open: (target, options) =>
    openTcpConnection(target, options, (send) => {
      const dialogue = createDialogue(HOST, target.token(options.user), options, send)
      return { ...dialogue, receive: (bytes) => dialogue.receive(bytes.toString('latin1')) }
    }),
}
