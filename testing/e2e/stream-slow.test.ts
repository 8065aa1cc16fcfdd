// Readers of streams who stop reading, next to one who does not: the server holds back instead of
// holding what they leave unread, nobody waits for them, and when they read on they arrive at the truth.
import { test } from 'bun:test'
import { useScene } from './scene.ts'
import { expectSlowReadersHarmless, type Line } from './slow-readers.ts'
import { openStream } from './stream-client.ts'

const scene = useScene()

async function openLine(url: string, viewerId: string, userIds: readonly string[]): Promise<Line> {
  const stream = await openStream(url, viewerId, userIds)
  scene.onEnd(stream.close)
  return {
    ...stream,
    frameAt: (position) => stream.told[position]?.frame,
    until: (find, withinMs) => stream.until('everybody', find, withinMs),
  }
}

test('[W6] slow readers of streams slow no other watcher, skip what was overtaken and end at the truth', () =>
  expectSlowReadersHarmless(scene, {
    openLine,
    targets: 200,
    changes: 6_000,
    flushMs: 20,
  }))
