// Readers who stop reading, next to one who does not, by WebSocket and by stream.
import { test } from 'bun:test'
import { openRawSocket } from './raw-socket.ts'
import { useScene } from './scene.ts'
import { expectSlowReadersHarmless, type Line } from './slow-readers.ts'
import { openStream } from './stream-client.ts'

const scene = useScene()

async function openSocketLine(url: string, viewerId: string, userIds: readonly string[]): Promise<Line> {
  const raw = await openRawSocket(url, viewerId)
  scene.onEnd(raw.destroy)
  raw.send({ type: 'watch', user_ids: userIds })
  return { ...raw, frameAt: (position) => raw.frames[position] }
}

async function openStreamLine(url: string, viewerId: string, userIds: readonly string[]): Promise<Line> {
  const stream = await openStream(url, viewerId, userIds)
  scene.onEnd(stream.close)
  return {
    ...stream,
    frameAt: (position) => stream.told[position]?.frame,
    until: (find, withinMs) => stream.until('all targets', find, withinMs),
  }
}

test('[W6] slow readers of WebSockets slow no other watcher, skip what was overtaken and end at the truth', () =>
  expectSlowReadersHarmless(scene, { openLine: openSocketLine, targets: 500, changes: 5_000, flushMs: 50 }))

test('[W6] so do slow readers of streams', () =>
  expectSlowReadersHarmless(scene, { openLine: openStreamLine, targets: 200, changes: 2_000, flushMs: 20 }))
