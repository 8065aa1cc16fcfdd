// One user's dialogue with the Socket.IO server, without the WebSocket: Engine.IO packets
// (0 open, 2 ping, 3 pong, 4 message) that hold Socket.IO packets (0 connect, 2 event, 3 answer, 4 refusal).
// Pushed states of contacts are only counted by their first two characters on connections that are not exact.
import { type ConnectionOptions, userName } from '../../wires/wire.ts'
import type { Dialogue, Send } from '../dialogue.ts'

const WATCH = 0
const OPEN = 0x30
const PING = 0x32
const MESSAGE = 0x34
const CONNECT = 0x30
const EVENT = 0x32
const ANSWER = 0x33

export function createDialogue(
  token: string,
  { contacts, isExact, events }: ConnectionOptions,
  send: Send,
): Dialogue<Buffer> {
  function onEvent(message: Buffer): void {
    events.onFrame(message.length, 1)
    if (!isExact) return
    const [name, state] = JSON.parse(message.toString('utf8', 2)) as [string, WatchedState]
    const target = Number(/^user-(\d+)$/.exec(state.user_id)?.[1] ?? Number.NaN)
    if (name !== 'presence' || Number.isNaN(target)) events.onError(message.toString())
    else if (state.status === 'offline') events.onGone(target)
    // Serial 0 is a contact that connected.
    else if (state.serial > 0) events.onDelivery(target, state.serial)
  }

  function onMessage(message: Buffer): void {
    if (message[1] === EVENT) onEvent(message)
    else if (message[1] === CONNECT) send(`42${WATCH}${JSON.stringify(['watch', contacts.map(userName)])}`)
    else if (message[1] === ANSWER) onAnswer(message)
    else events.onError(message.toString())
  }

  function onAnswer(message: Buffer): void {
    const [states] = JSON.parse(message.toString('utf8', 3)) as [WatchedState[]]
    if (states.length === contacts.length) events.onReady()
    else events.onError(`asked for ${contacts.length} states, got ${states.length}`)
  }

  return {
    // The server speaks first.
    begin() {},
    receive(message) {
      if (message[0] === MESSAGE) onMessage(message)
      else if (message[0] === PING) events.onSent(send('3'))
      else if (message[0] === OPEN) send(`40${JSON.stringify({ token })}`)
      else events.onError(message.toString())
    },
    // Each change differs from the one before, so the server pushes every one.
    change(serial) {
      const status = serial % 2 === 1 ? 'away' : 'online'
      events.onSent(send(`42${JSON.stringify(['status', status, serial])}`))
    },
  }
}

interface WatchedState {
  user_id: string
  status: string
  serial: number
}
