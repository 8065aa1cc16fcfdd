// The wires of the peers by name, for load processes, which get a name and not a function.
import type { Wire } from '../wires/wire.ts'
import { centrifugoWire } from './centrifugo/wire.ts'
import { ejabberdWire } from './ejabberd/wire.ts'
import { mosquittoWire } from './mosquitto/wire.ts'
import { socketioWire } from './socketio/wire.ts'

export const peerWires: Readonly<Record<string, Wire>> = {
  socketio: socketioWire,
  ejabberd: ejabberdWire,
  mosquitto: mosquittoWire,
  centrifugo: centrifugoWire,
}
