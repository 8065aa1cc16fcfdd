// Clients that ask for much and never read: what the server keeps for them is bounded, other clients are served
// meanwhile, and one that reads on after all gets every answer and the newest state.
import { expect, test } from 'bun:test'
import { CUSTOM_TEXT_CHARS_MAX } from '@greendot/protocol'
import { call } from '../http/calls.ts'
import { openRawSocket, type RawSocket } from './raw-socket.ts'
import { ask, useScene } from './scene.ts'

const scene = useScene()

const CLIENTS = 40
const FRAMES = 60
const TARGETS = 500
const SAMPLES = 60
/** Per client 256 KiB unsent, 256 KiB waiting, an answer of 430 KB and a read of 512 KiB, and as much again. */
const GROWTH_BYTES_MAX = CLIENTS * 4 * 1024 * 1024

async function residentBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(text.match(/^greendot_resident_bytes (\S+)$/m)?.[1])
}

async function openSilent(url: string, name: string): Promise<RawSocket> {
  const raw = await openRawSocket(url, name)
  scene.onEnd(raw.destroy)
  raw.stopReading()
  return raw
}

test('[W6] clients that ask again and again and never read take a bounded amount of memory', async () => {
  const { url } = await scene.process({ frames_per_second: 1_000 })
  const names = Array.from({ length: TARGETS }, (_, n) => `user-${n}-`.padEnd(105, 'x'))
  const text = '🟢'.repeat(CUSTOM_TEXT_CHARS_MAX)
  for (const name of names)
    await call(url, 'PUT', `/api/v1/users/${name}/status`, { token: 'dev', body: { text } })
  const clients = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => openSilent(url, `silent-${n}`)))
  const before = await residentBytes(url)
  for (let asked = 0; asked < FRAMES; asked++)
    for (const client of clients) client.send({ type: 'watch', user_ids: names, ref: asked })

  let most = 0
  for (let sample = 0; sample < SAMPLES; sample++) most = Math.max(most, await residentBytes(url))
  expect(most - before).toBeLessThan(GROWTH_BYTES_MAX)

  // Another client is served.
  const alice = await scene.person(url, 'alice')
  await ask(alice, { type: 'watch', user_ids: names.slice(0, 1) })

  const body = { text: 'newest' }
  await call(url, 'PUT', `/api/v1/users/${names[0]}/status`, { token: 'dev', body })
  const [reader] = clients
  reader!.readOn()
  const isNewest = { user_id: names[0], custom_status: expect.objectContaining(body) }
  await reader!.until((frames) => frames.find((frame) => frame.type === 'ok' && frame.ref === FRAMES - 1))
  await reader!.until((frames) => frames.findLast((frame) => JSON.stringify(frame).includes('"newest"')))
  const last = reader!.frames
    .flatMap((frame) =>
      frame.type === 'presence_state' ? frame.states : frame.type === 'presence_change' ? frame.changes : [],
    )
    .findLast(({ user_id }) => user_id === names[0])
  expect(last).toMatchObject(isNewest)
})
