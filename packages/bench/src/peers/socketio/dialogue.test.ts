import { describe, expect, test } from 'bun:test'
import { recordedLine } from '../recorded-connection.ts'
import { createTalk } from './dialogue.ts'

const push = (user: number, status: string, serial: number) =>
  `42${JSON.stringify(['presence', { user_id: `user-${user}`, status, serial }])}`

function begun(isExact = true) {
  const line = recordedLine(2, [1, 3], isExact)
  const said: string[] = []
  const talk = createTalk('a.b.c', line, (text) => said.push(text))
  const hear = (...messages: string[]) => {
    for (const message of messages) talk.hear(Buffer.from(message))
  }
  return { talk, hear, said, happened: line.happened }
}

describe('[X7] a talk with Socket.IO', () => {
  test('[X7] shows the token, watches the contacts, and is ready when their states came', () => {
    const { hear, said, happened } = begun()
    hear('0{"sid":"x","upgrades":[],"pingInterval":15000,"pingTimeout":15000,"maxPayload":1000000}')
    hear('40{"sid":"y"}')
    expect(said).toEqual(['40{"token":"a.b.c"}', '420["watch",["user-1","user-3"]]'])
    expect(happened).toEqual([])
    hear('430[[{"user_id":"user-1","status":"online","serial":0},{"user_id":"user-3","status":"offline"}]]')
    expect(happened).toEqual(['ready'])
  })

  test('[X7] a snapshot that lacks somebody is an error', () => {
    const { hear, happened } = begun()
    hear('430[[]]')
    expect(happened).toEqual(['error asked for 2 states, got 0'])
  })

  test('[X7] answers pings', () => {
    const { hear, said } = begun()
    hear('2')
    expect(said).toEqual(['3'])
  })

  test('[X7] reports changes, comings and goings of contacts', () => {
    const { hear, happened } = begun()
    hear(push(1, 'online', 0), push(1, 'away', 1), push(3, 'offline', 0))
    expect(happened).toEqual(['frame 1', 'frame 1', 'delivery 1 1', 'frame 1', 'gone 3'])
  })

  test('[X7] only counts on lines that are not exact', () => {
    const { hear, happened } = begun(false)
    hear(push(1, 'away', 1), push(1, 'online', 2))
    expect(happened).toEqual(['frame 1', 'frame 1'])
  })

  test('[X7] tells of refusals and of what it does not know', () => {
    const { hear, happened } = begun()
    hear('44{"message":"bad_token"}', '42["other",{"user_id":"user-1"}]', '7')
    expect(happened).toEqual([
      'error 44{"message":"bad_token"}',
      'frame 1',
      'error 42["other",{"user_id":"user-1"}]',
      'error 7',
    ])
  })

  test('[X7] changes back and forth', () => {
    const { talk, said } = begun()
    talk.change(1)
    talk.change(2)
    expect(said).toEqual(['42["status","away",1]', '42["status","online",2]'])
  })
})
