import { describe, expect, test } from 'bun:test'
import { recordedConnection } from '../../../testing/recorded-connection.ts'
import { createDialogue } from './dialogue.ts'

function begin() {
  const connection = recordedConnection(2, [1, 3])
  const sent: string[] = []
  const dialogue = createDialogue('a.b.c', connection, (text) => sent.push(text))
  const receive = (...lines: string[]) => dialogue.receive(Buffer.from(lines.join('\n')))
  return { dialogue, receive, sent, happened: connection.happened }
}

describe('[X7] a dialogue with Centrifugo, as its documents describe it', () => {
  test('[X7] connects, subscribes to all contacts in one frame, and is ready when all are answered', () => {
    const { dialogue, receive, sent, happened } = begin()
    dialogue.begin()
    receive('{"id":1,"connect":{"client":"x","version":"6.0.0","ping":25,"pong":true}}')
    expect(sent[0]).toBe('{"id":1,"connect":{"token":"a.b.c"}}')
    expect(sent[1]?.split('\n')).toEqual([
      '{"id":2,"publish":{"channel":"users:user-2","data":{"serial":0}}}',
      '{"id":3,"subscribe":{"channel":"users:user-1","recover":true}}',
      '{"id":4,"subscribe":{"channel":"users:user-3","recover":true}}',
    ])
    receive('{"id":2,"publish":{}}', '{"id":3,"subscribe":{"recovered":true}}')
    expect(happened).toEqual([])
    receive('{"id":4,"subscribe":{}}')
    expect(happened).toEqual(['ready'])
  })

  test('[X7] reports publications and errors, answers pings', () => {
    const { receive, sent, happened } = begin()
    receive('{"push":{"channel":"users:user-1","pub":{"data":{"serial":5}}}}', '{}')
    receive('{"id":3,"error":{"code":103,"message":"permission denied"}}')
    expect(sent).toEqual(['{}'])
    expect(happened).toEqual([
      'frame 1',
      'delivery 1 5',
      'error {"id":3,"error":{"code":103,"message":"permission denied"}}',
    ])
  })
})
