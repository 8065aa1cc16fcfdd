import { describe, expect, test } from 'bun:test'
import { recordedConnection } from '../../../testing/recorded-connection.ts'
import { createDialogue } from './dialogue.ts'

const push = (user: number, status: string, serial: number) =>
  `42${JSON.stringify(['presence', { user_id: `user-${user}`, status, serial }])}`

function begin(isExact = true) {
  const connection = recordedConnection(2, [1, 3], isExact)
  const sent: string[] = []
  const dialogue = createDialogue('a.b.c', connection, (text) => sent.push(text))
  const receive = (...messages: string[]) => {
    for (const message of messages) dialogue.receive(Buffer.from(message))
  }
  return { dialogue, receive, sent, happened: connection.happened }
}

describe('[X7] a dialogue with Socket.IO', () => {
  test('[X7] shows the token, watches the contacts, and is ready when their states came', () => {
    const { receive, sent, happened } = begin()
    receive('0{"sid":"x","upgrades":[],"pingInterval":15000,"pingTimeout":15000,"maxPayload":1000000}')
    receive('40{"sid":"y"}')
    expect(sent).toEqual(['40{"token":"a.b.c"}', '420["watch",["user-1","user-3"]]'])
    expect(happened).toEqual([])
    receive(
      '430[[{"user_id":"user-1","status":"online","serial":0},{"user_id":"user-3","status":"offline"}]]',
    )
    expect(happened).toEqual(['ready'])
  })

  test('[X7] a snapshot that lacks a contact is an error', () => {
    const { receive, happened } = begin()
    receive('430[[]]')
    expect(happened).toEqual(['error asked for 2 states, got 0'])
  })

  test('[X7] answers pings', () => {
    const { receive, sent } = begin()
    receive('2')
    expect(sent).toEqual(['3'])
  })

  test('[X7] reports changes, connects and disconnects of contacts', () => {
    const { receive, happened } = begin()
    receive(push(1, 'online', 0), push(1, 'away', 1), push(3, 'offline', 0))
    expect(happened).toEqual(['frame 1', 'frame 1', 'delivery 1 1', 'frame 1', 'gone 3'])
  })

  test('[X7] only counts on connections that are not exact', () => {
    const { receive, happened } = begin(false)
    receive(push(1, 'away', 1), push(1, 'online', 2))
    expect(happened).toEqual(['frame 1', 'frame 1'])
  })

  test('[X7] reports refusals and unknown messages', () => {
    const { receive, happened } = begin()
    receive('44{"message":"bad_token"}', '42["other",{"user_id":"user-1"}]', '7')
    expect(happened).toEqual([
      'error 44{"message":"bad_token"}',
      'frame 1',
      'error 42["other",{"user_id":"user-1"}]',
      'error 7',
    ])
  })

  test('[X7] changes back and forth', () => {
    const { dialogue, sent } = begin()
    dialogue.change(1)
    dialogue.change(2)
    expect(sent).toEqual(['42["status","away",1]', '42["status","online",2]'])
  })
})
