// One request: it goes to the addresses that were checked, with the name in the URL as its host.
import { afterAll, expect, test } from 'bun:test'
import { systemClock } from '../platform/clock.ts'
import type { Address } from './addresses.ts'
import { createSendPost } from './request.ts'

const LOOPBACK: Address[] = [{ address: '127.0.0.1', family: 4 }]
const hosts: string[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    hosts.push(request.headers.get('host') ?? '')
    return new Response(null, { status: 200 })
  },
})
afterAll(() => server.stop(true))

const post = (host: string) => ({ url: `http://${host}:${server.port}/`, headers: {}, body: '{}' })

test('[X5] [C6] a name is resolved once, and the request goes to what was checked', async () => {
  let asked = 0
  const resolve = async () => {
    asked++
    // A second question would get another answer.
    return asked === 1 ? LOOPBACK : [{ address: '127.0.0.9', family: 4 as const }]
  }
  const send = createSendPost({ allowsPrivate: true, clock: systemClock, resolve })
  expect(await send(post('hooks.example.test'))).toEqual({ ok: true, status: 200 })
  expect(asked).toBe(1)
  expect(hosts).toEqual([`hooks.example.test:${server.port}`])
})

test('[X5] [C6] a name that turns out to be private gets no request', async () => {
  const resolve = async () => LOOPBACK
  const send = createSendPost({ allowsPrivate: false, clock: systemClock, resolve })
  const before = hosts.length
  expect(await send(post('rebound.example.test'))).toMatchObject({
    ok: false,
    status: null,
    because: expect.stringContaining('127.0.0.1'),
  })
  expect(hosts).toHaveLength(before)
})
