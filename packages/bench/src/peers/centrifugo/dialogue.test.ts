import { describe, expect, test } from 'bun:test'
import { recordedLine } from '../recorded-connection.ts'
import { createTalk } from './dialogue.ts'

function begun() {
  const line = recordedLine(2, [1, 3])
  const said: string[] = []
  const talk = createTalk('a.b.c', line, (text) => said.push(text))
  const hear = (...lines: string[]) => talk.hear(Buffer.from(lines.join('\n')))
  return { talk, hear, said, happened: line.happened }
}

describe('[X7] a talk with Centrifugo, as its documents describe it', () => {
  test('[X7] connects, subscribes to all contacts in one frame, and is ready when all are answered', () => {
    const { talk, hear, said, happened } = begun()
    talk.begin()
    hear('{"id":1,"connect":{"client":"x","version":"6.0.0","ping":25,"pong":true}}')
    expect(said[0]).toBe('{"id":1,"connect":{"token":"a.b.c"}}')
    expect(said[1]?.split('\n')).toEqual([
      '{"id":2,"publish":{"channel":"people:user-2","data":{"serial":0}}}',
      '{"id":3,"subscribe":{"channel":"people:user-1","recover":true}}',
      '{"id":4,"subscribe":{"channel":"people:user-3","recover":true}}',
    ])
    hear('{"id":2,"publish":{}}', '{"id":3,"subscribe":{"recovered":true}}')
    expect(happened).toEqual([])
    hear('{"id":4,"subscribe":{}}')
    expect(happened).toEqual(['ready'])
  })

  test('[X7] reports publications, answers pings, tells of errors', () => {
    const { hear, said, happened } = begun()
    hear('{"push":{"channel":"people:user-1","pub":{"data":{"serial":5}}}}', '{}')
    hear('{"id":3,"error":{"code":103,"message":"permission denied"}}')
    expect(said).toEqual(['{}'])
    expect(happened).toEqual([
      'frame 1',
      'delivery 1 5',
      'error {"id":3,"error":{"code":103,"message":"permission denied"}}',
    ])
  })
})
