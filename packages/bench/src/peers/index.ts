// The peers, in the order of the table. Importing this starts nothing.
import { centrifugo } from './centrifugo/peer.ts'
import { ejabberd } from './ejabberd/peer.ts'
import { mosquitto } from './mosquitto/peer.ts'
import type { Peer } from './peer.ts'
import { socketio } from './socketio/peer.ts'

export const peers: readonly Peer[] = [socketio, ejabberd, mosquitto, centrifugo]
