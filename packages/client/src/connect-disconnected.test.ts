// A backend that disconnects a user of the kit, over both transports, against a real server: the app is told why, and the
// kit does not come back by itself.
import { expect, test } from 'bun:test'
import { arrive, endScenesAfterEach, open, serve } from '../../../testing/clients/client-scene.ts'
import { recordingSockets } from '../testing/recording.ts'
import { greendot } from './server.ts'

endScenesAfterEach()

const failures = (errors: readonly { code: string; message: string }[]) =>
  errors.map(({ code, message }) => [code, message])

test('[C6, X3] by WebSocket: the state says so, the error has the reason, and join returns', async () => {
  const server = await serve()
  const backend = greendot({ url: server.url, serverKey: 'dev' })
  const sockets = recordingSockets()
  const { dot, log } = open(server, { WebSocket: sockets.WebSocket })
  const errors: { code: string; message: string }[] = []
  dot.on('error', (failure) => errors.push(failure))
  dot.watch('bob')
  await log.until('live', () => dot.state === 'live' && dot.get('bob') !== undefined)
  await backend.disconnect('alice', { reason: 'signed out everywhere' })
  await log.until('disconnected', () => dot.state === 'disconnected')
  expect(failures(errors)).toEqual([['forbidden', 'signed out everywhere']])
  expect(await dot.setAvailability('busy')).toMatchObject({
    ok: false,
    message: 'this device was disconnected',
  })
  expect(dot.get('bob')?.stale).toBe(true)
  expect(sockets.opened).toHaveLength(1)
  dot.join()
  await log.until('live again', () => dot.state === 'live')
  expect(log.states).toEqual(['live', 'disconnected', 'connecting', 'live'])
})

test('[C6, D8, X3] over HTTP: the stream says so', async () => {
  const server = await serve()
  const backend = greendot({ url: server.url, serverKey: 'dev' })
  const bob = await arrive(server, 'bob')
  bob.send({ type: 'watch', user_ids: ['alice'] })
  const { dot, log } = open(server, { transport: 'http' })
  const errors: { code: string; message: string }[] = []
  dot.on('error', (failure) => errors.push(failure))
  dot.watch('bob')
  await log.until('bob', () => dot.get('bob')?.status === 'online')
  await bob.sees('alice', ({ status }) => status === 'online')
  await backend.disconnect('alice')
  await log.until('disconnected', () => dot.state === 'disconnected')
  expect(failures(errors)).toEqual([['forbidden', 'disconnected by the app']])
  await bob.sees('alice', ({ status, version }) => status === 'offline' && version > 0)
})
