// One user's dialogue with Mosquitto, without the socket: sign in with the token as the password and a last will,
// publish the own status as a retained message, subscribe to the topics of all contacts, and receive the retained
// status of each and then every change. MQTT does not say where the retained messages end: contacts that were
// never there have none. Mosquitto answers in order, so ready is when it answers a ping sent after the subscription.
import { type ConnectionOptions, userName } from '../../wires/wire.ts'
import type { Send } from '../dialogue.ts'
import type { BeatingDialogue } from '../tcp-connection.ts'
import {
  connectPacket,
  isRetained,
  KIND,
  PacketReader,
  PING,
  readPublication,
  retainedPacket,
  subscribePacket,
} from './packets.ts'

/** The broker waits one and a half times as long for a packet. The load pings more often than this. */
const KEEP_ALIVE_SECONDS = 30
const SUBSCRIBE_ID = 1
/** In the answer to a subscription, after its number: a byte for each topic. */
const GRANTED_AT = 2
const REFUSED = 0x80
const OFFLINE = 'offline'
const STATUS = /^(?:online|away) (\d+)$/

const topicOf = (user: number): string => `presence/${userName(user)}`

export function createDialogue(
  token: string,
  { user, contacts, isExact, events }: ConnectionOptions,
  send: Send<Uint8Array>,
): BeatingDialogue {
  const reader = new PacketReader()
  const topic = topicOf(user)
  let isReady = false

  // Every change differs from the one before, as with the other servers.
  const status = (serial: number) =>
    retainedPacket(topic, `${serial % 2 === 1 ? 'away' : 'online'} ${serial}`)

  function onConnectAnswer(code: number): void {
    if (code !== 0) events.onError(`the broker refused the connection with code ${code}`)
    else {
      // A SUBSCRIBE without topics is a violation of the protocol.
      const watch = contacts.length === 0 ? [] : [subscribePacket(SUBSCRIBE_ID, contacts.map(topicOf))]
      send(Buffer.concat([status(0), ...watch, PING]))
    }
  }

  function onSubscribeAnswer(codes: Buffer): void {
    if (codes.length === contacts.length && codes.every((code) => code < REFUSED)) return
    events.onError(`the broker answered the subscription with ${codes.toString('hex')}`)
  }

  function onPong(): void {
    // The later ones answer signs of life.
    if (isReady) return
    isReady = true
    events.onReady()
  }

  function onPublish(bytes: Buffer, from: number, to: number): void {
    events.onFrame(to - from, 1)
    if (!isExact) return
    const { topic, payload } = readPublication(bytes, from, to)
    const target = Number(/^presence\/user-(\d+)$/.exec(topic)?.[1] ?? Number.NaN)
    const serial = Number(STATUS.exec(payload)?.[1] ?? Number.NaN)
    if (!Number.isNaN(target) && payload === OFFLINE) events.onGone(target)
    else if (Number.isNaN(target) || Number.isNaN(serial)) events.onError(`${topic}: ${payload}`)
    // Serial 0 is a contact that connected.
    else if (serial > 0) events.onDelivery(target, serial)
  }

  function onPacket(kind: number, flags: number, bytes: Buffer, from: number, to: number): void {
    if (kind === KIND.publish) {
      // A retained message is a part of the snapshot; a change comes without that flag.
      if (!isRetained(flags)) onPublish(bytes, from, to)
    } else if (kind === KIND.connectAnswer) onConnectAnswer(bytes[from + 1]!)
    else if (kind === KIND.subscribeAnswer) onSubscribeAnswer(bytes.subarray(from + GRANTED_AT, to))
    else if (kind === KIND.pong) onPong()
    else events.onError(`a packet of kind ${kind}`)
  }

  return {
    begin() {
      const name = userName(user)
      const will = { topic, payload: OFFLINE }
      send(
        connectPacket({
          clientId: name,
          username: name,
          password: token,
          keepAliveSeconds: KEEP_ALIVE_SECONDS,
          will,
        }),
      )
    },
    receive: (chunk) => reader.push(chunk, onPacket),
    change: (serial) => events.onSent(send(status(serial))),
    beat() {
      if (isReady) events.onSent(send(PING))
    },
  }
}
