// The wire to Mosquitto: a TCP connection and a dialogue over it.
import type { Wire } from '../../wires/wire.ts'
import { openTcpConnection } from '../tcp-connection.ts'
import { createDialogue } from './dialogue.ts'

export const mosquittoWire: Wire = {
  open: (target, options) =>
    openTcpConnection(target, options, (send) => createDialogue(target.token(options.user), options, send)),
}
