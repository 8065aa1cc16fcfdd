// Frames that are not what they should be. Each gets the documented error, changes nothing, and leaves
// the connection alive.
import { describe, expect, test } from 'bun:test'
import type { ErrorCode } from '@greendot/protocol'
import { useAttackFixture } from './fixture.ts'

const fixture = useAttackFixture()

const watch = (rest: string) => `{"type":"watch",${rest}}`
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const ids = (count: number) => Array.from({ length: count }, (_, index) => index.toString(36))

/** How frames go wrong; input/schemas.test.ts has every bad value of every field. */
const bad: [string, string | Uint8Array, ErrorCode][] = [
  ['nothing', '', 'bad_frame'],
  ['half an object', '{"type":"leave"', 'bad_frame'],
  ['an object and more', '{"type":"leave"} {"type":"leave"}', 'bad_frame'],
  ['an object with a comment', '{"type":"leave"/* now */}', 'bad_frame'],
  ['an object in single quotes', "{'type':'leave'}", 'bad_frame'],
  ['a byte order mark', '\ufeff{"type":"leave"}', 'bad_frame'],
  ['null characters', '\0\0\0\0', 'bad_frame'],
  ['null', 'null', 'bad_frame'],
  ['a string', '"leave"', 'bad_frame'],
  ['a list', '[]', 'bad_frame'],
  ['no type', '{}', 'bad_frame'],
  ['a number for a type', '{"type":1}', 'bad_frame'],
  ['a list for a type', '{"type":["leave"]}', 'bad_frame'],
  ['an inherited type', '{"__proto__":{"type":"leave"}}', 'bad_frame'],
  ['lists 30,000 deep', deep(30_000), 'bad_frame'],
  ['objects 7,000 deep', `${'{"type":'.repeat(7_000)}1${'}'.repeat(7_000)}`, 'bad_frame'],
  ['binary', Buffer.from('{"type":"leave"}'), 'bad_frame'],
  ['binary noise', Uint8Array.from({ length: 300 }, (_, index) => index), 'bad_frame'],
  ['an unknown type', '{"type":"shutdown"}', 'unknown_type'],
  ['a type in capitals', '{"type":"LEAVE"}', 'unknown_type'],
  ['an empty type', '{"type":""}', 'unknown_type'],
  ['a type of the server', '{"type":"presence_change","changes":[]}', 'unknown_type'],
  ['the type __proto__', '{"type":"__proto__"}', 'unknown_type'],
  ['the type of half a character', '{"type":"\\ud800"}', 'unknown_type'],
  ['a type of 60,000 letters', `{"type":"${'x'.repeat(60_000)}"}`, 'unknown_type'],
  ['a heartbeat asleep', '{"type":"heartbeat","activity":"asleep"}', 'bad_request'],
  ['watching without ids', '{"type":"watch"}', 'bad_request'],
  ['watching a string', watch('"user_ids":"bob"'), 'bad_request'],
  ['watching a number', watch('"user_ids":[1]'), 'invalid_id'],
  ['watching nested lists', watch(`"user_ids":[${deep(10)}]`), 'invalid_id'],
  ['watching lists nested too deep', watch(`"user_ids":[${deep(20_000)}]`), 'bad_frame'],
  ['watching half a character', watch('"user_ids":["bob","\\ud83d"]'), 'invalid_id'],
  ['watching 501 users', watch(`"user_ids":${JSON.stringify(ids(501))}`), 'watch_limit'],
  ['knowing null', watch('"user_ids":["bob"],"known":null'), 'bad_request'],
  ['knowing the infinite', watch('"user_ids":["bob"],"known":{"bob":1e999}'), 'bad_request'],
  ['knowing a list', watch(`"user_ids":["bob"],"known":{"bob":${deep(10)}}`), 'bad_request'],
  ['knowing too deep', watch(`"user_ids":["bob"],"known":{"bob":${deep(20_000)}}`), 'bad_frame'],
  ['availability offline', '{"type":"set_availability","status":"offline"}', 'invalid_status'],
  ['the alias with nonsense', '{"type":"set_status","status":{"toString":"busy"}}', 'invalid_status'],
  ['away until the past', '{"type":"set_availability","status":"away","expires_at":5}', 'invalid_expiry'],
  ['a status of 141 letters', `{"type":"set_custom_status","text":"${'x'.repeat(141)}"}`, 'text_too_long'],
  [
    'an emoji of 33 bytes',
    `{"type":"set_custom_status","text":"a","emoji":"${'x'.repeat(33)}"}`,
    'text_too_long',
  ],
  ['half a character as status', '{"type":"set_custom_status","text":"\\udfff"}', 'bad_request'],
]

describe('a bad frame is answered, changes nothing and does not end the connection', () => {
  test.each(bad)('%s', async (_, frame, code) => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      client.socket.send(frame as string)
      const error = await client.next('error')
      expect(error.code).toBe(code)
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'type'])
      expect(error.message.length).toBeWithin(5, 200)
      await fixture.stillServed(client)
      expect(client.heard.filter(({ frame: { type } }) => type === 'error')).toHaveLength(1)
      client.close()
      await client.closed
    })
  })
})

describe('references', () => {
  const good = ['a', '', '0', 'x'.repeat(128), '\ud800', '__proto__', 0, -1, 1.5, 1e21]
  test.each(good)('%p comes back with the answer and with the error', async (ref) => {
    const client = await fixture.attacker()
    client.send({ type: 'heartbeat', activity: 'active', ref })
    expect((await client.next('ok')).ref).toBe(ref)
    client.send({ type: 'nonsense', ref })
    expect((await client.next('error')).ref).toBe(ref)
    client.close()
  })

  test.each(good)('%p comes back with the error for a frame that has no type', async (ref) => {
    const client = await fixture.attacker()
    for (const frame of [{ ref }, { type: 8, ref }]) {
      client.send(frame)
      const error = await client.next('error')
      expect([error.code, error.ref]).toEqual(['bad_frame', ref])
    }
    await fixture.stillServed(client)
    client.close()
  })

  const wrong = ['true', '{}', '[1]', '1e999', '-1e999', `"${'x'.repeat(129)}"`, deep(10)]
  test.each(wrong)('%p is no reference: the sender is told, and the frame does nothing', async (ref) => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      client.send(`{"type":"set_custom_status","text":"pwned","ref":${ref}}`)
      const error = await client.next('error')
      expect(error).toEqual({ type: 'error', code: 'bad_request', message: expect.stringContaining('ref') })
      client.send(`{"ref":${ref}}`)
      expect((await client.next('error')).code).toBe('bad_frame')
      await fixture.stillServed(client)
      expect(client.heard.filter(({ frame: { type } }) => type === 'ok')).toHaveLength(1)
      client.close()
      await client.closed
    })
  })

  test('null is none: the frame is handled and no answer carries it', async () => {
    const client = await fixture.attacker()
    client.send('{"type":"heartbeat","activity":"active","ref":null}')
    client.send('{"type":"nonsense","ref":null}')
    expect(await client.next('error')).not.toHaveProperty('ref')
    await fixture.stillServed(client)
    expect(client.heard.filter(({ frame: { type } }) => type === 'ok')).toHaveLength(1)
    client.close()
  })
})

describe('names that every object has', () => {
  test('[W9] as ids and as keys of known versions they are ordinary users', async () => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      const names = ['__proto__', 'constructor', 'toString', 'bob']
      client.send(
        `{"type":"watch","user_ids":${JSON.stringify(names)},"known":{"constructor":0,"toString":5}}`,
      )
      const { states } = await client.next('presence_state')
      expect(states.map(({ user_id }) => user_id)).toEqual(['__proto__', 'toString', 'bob'])
      expect(states[0]).toMatchObject({ user_id: '__proto__', status: 'offline', version: 0 })
      // What is inherited through the key is not known either.
      client.send('{"type":"watch","user_ids":["valueOf"],"known":{"__proto__":{"valueOf":0}}}')
      const second = await client.next('presence_state')
      expect(second.states.map(({ user_id }) => user_id)).toEqual(['valueOf'])
      client.send({ type: 'unwatch', user_ids: names })
      await fixture.stillServed(client)
      client.close()
      await client.closed
    })
    expect(({} as Record<string, unknown>).valueOf).toBe(Object.prototype.valueOf)
  })

  test('of a key said twice the last one counts', async () => {
    await fixture.unharmed(async () => {
      const client = await fixture.attacker()
      client.send('{"type":"leave","type":"heartbeat","activity":"active","ref":7}')
      expect((await client.next('ok')).ref).toBe(7)
      await fixture.stillServed(client)
      client.close()
      await client.closed
    })
  })
})
