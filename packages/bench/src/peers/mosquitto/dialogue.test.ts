import { describe, expect, test } from 'bun:test'
import { recordedConnection } from '../../../testing/recorded-connection.ts'
import { createDialogue } from './dialogue.ts'
import { PING, retainedPacket, subscribePacket } from './packets.ts'

const ACCEPTED = Buffer.from([0x20, 2, 0, 0])
const REFUSED = Buffer.from([0x20, 2, 0, 5])
const GRANTED = Buffer.from([0x90, 4, 0, 1, 0, 0])
const PONG = Buffer.from([0xd0, 0])

/** What subscribers get of a message: a change when they are there, a retained one when they come later. */
function published(user: number, payload: string): { change: Buffer; retained: Buffer } {
  const retained = retainedPacket(`presence/user-${user}`, payload)
  const change = Buffer.from(retained)
  change[0] = 0x30
  return { change, retained }
}

function begin(isExact = true, contacts = [1, 3]) {
  const connection = recordedConnection(2, contacts, isExact)
  const sent: Uint8Array[] = []
  const dialogue = createDialogue('a.b.c', connection, (bytes) => sent.push(bytes))
  const receive = (...packets: Buffer[]) => dialogue.receive(Buffer.concat(packets))
  return { dialogue, sent, receive, happened: connection.happened }
}

describe('[X7] a dialogue with Mosquitto', () => {
  test('[X7] signs in with the token and a will, and publishes and subscribes when it is accepted', () => {
    const { dialogue, sent, receive } = begin()
    dialogue.begin()
    const connect = Buffer.from(sent[0]!).toString('latin1')
    expect(connect).toEndWith('\0\x06user-2\0\x0fpresence/user-2\0\x07offline\0\x06user-2\0\x05a.b.c')
    receive(ACCEPTED)
    const status = retainedPacket('presence/user-2', 'online 0')
    const watch = subscribePacket(1, ['presence/user-1', 'presence/user-3'])
    expect(sent[1]).toEqual(Buffer.concat([status, watch, PING]))
  })

  test('[X7] is ready when the ping after the subscription is answered, once', () => {
    const { receive, happened } = begin()
    receive(ACCEPTED, GRANTED, published(1, 'away 5').retained)
    expect(happened).toEqual([])
    receive(PONG)
    receive(PONG)
    expect(happened).toEqual(['ready'])
  })

  test('[X7] without contacts subscribes to nothing', () => {
    const { sent, receive } = begin(true, [])
    receive(ACCEPTED)
    expect(sent[0]).toEqual(Buffer.concat([retainedPacket('presence/user-2', 'online 0'), PING]))
  })

  test('[X7] reports changes of contacts, and neither connects nor snapshots as deliveries', () => {
    const { receive, happened } = begin()
    receive(published(1, 'away 5').retained, published(3, 'offline').retained)
    receive(published(3, 'online 0').change, published(1, 'online 6').change, published(1, 'offline').change)
    expect(happened).toEqual(['frame 1', 'frame 1', 'delivery 1 6', 'frame 1', 'gone 1'])
  })

  test('[X7] only counts on connections that are not exact', () => {
    const { receive, happened } = begin(false)
    receive(published(1, 'away 5').change, published(1, 'offline').change)
    expect(happened).toEqual(['frame 1', 'frame 1'])
  })

  test('[X7] reports refusals and what it does not understand', () => {
    const { receive, happened } = begin()
    receive(REFUSED, Buffer.from([0x90, 4, 0, 1, 0, 0x80]), Buffer.from([0x40, 2, 0, 1]))
    receive(published(1, 'asleep').change)
    expect(happened).toEqual([
      'error the broker refused the connection with code 5',
      'error the broker answered the subscription with 0080',
      'error a packet of kind 4',
      'frame 1',
      'error presence/user-1: asleep',
    ])
  })

  test('[X7] sends changes and, once it is ready, signs of life', () => {
    const { dialogue, sent, receive } = begin()
    dialogue.beat()
    receive(PONG)
    dialogue.change(12)
    dialogue.change(13)
    dialogue.beat()
    const topic = 'presence/user-2'
    expect(sent).toEqual([retainedPacket(topic, 'online 12'), retainedPacket(topic, 'away 13'), PING])
  })
})
