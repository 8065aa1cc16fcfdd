// What waits for a client that reads slowly, with a call whose writes end when the test says so.
import { beforeEach, expect, test } from 'bun:test'
import { EventEmitter } from 'node:events'
import type { Refused } from './call.ts'
import { type CallOut, MESSAGES_WAITING, outOf, UNREAD_CHARS_MAX, type Writing } from './out.ts'

const MESSAGE_CHARS = 1024 * 1024

/** Ends of writes that the client has not read. */
let unread: (() => void)[]
let written: number
let errors: unknown[]
let ended: number
let call: CallOut

beforeEach(() => {
  ;[unread, written, errors, ended] = [[], 0, [], 0]
  const fake = Object.assign(new EventEmitter(), {
    cancelled: false,
    write(_message: object, done: () => void) {
      written++
      unread.push(done)
      return true
    },
  }) as unknown as Writing
  fake.on('error', (error) => void errors.push(error))
  call = outOf(fake, { statusOf: (failure: Refused) => failure as never, onUnread: () => void ended++ })
})

const read = (messages = unread.length) => {
  for (const done of unread.splice(0, messages)) done()
}

test('[W6] a few messages may wait, and the caller hears when there is room again', () => {
  let ready = 0
  call.whenReady(() => void ready++)
  for (let n = 1; n < MESSAGES_WAITING; n++) expect(call.out.write({}, 10)).toBe(true)
  expect(call.out.write({}, 10)).toBe(false)
  read(1)
  expect([ready, call.hasRoom()]).toEqual([1, true])
})

test('[W6, C5] a call of which too much waits to be read ends with a code, is counted, and takes nothing more', () => {
  const fitting = UNREAD_CHARS_MAX / MESSAGE_CHARS
  for (let n = 0; n < fitting; n++) call.out.write({}, MESSAGE_CHARS)
  expect(errors).toEqual([])
  for (let n = 0; n < 100; n++) call.out.write({}, MESSAGE_CHARS)
  expect(errors).toMatchObject([{ code: 'rate_limited', retryAfterSeconds: 1 }])
  expect([written, ended]).toEqual([fitting + 1, 1])
})

test('[W6] a client that reads may be sent any amount', () => {
  for (let n = 0; n < 100; n++) {
    call.out.write({}, MESSAGE_CHARS)
    read()
  }
  expect(errors).toEqual([])
})
