// Readers of WebSockets who stop reading, next to one who does not: nobody waits for them, what they leave
// unread is not held, and whoever makes the server hold it by asking on and on is cut off.
import { test } from 'bun:test'
import { openRawSocket } from './raw-socket.ts'
import { isOffline, isOnline, useScene, watch } from './scene.ts'
import { expectSlowReadersHarmless, type Line } from './slow-readers.ts'

const TARGETS = 500
/** Each is answered with some fifty kilobytes, which makes more than the system will buffer. */
const QUESTIONS = 600

const scene = useScene()

async function openLine(url: string, viewerId: string, userIds: readonly string[]): Promise<Line> {
  const raw = await openRawSocket(url, viewerId)
  scene.onEnd(raw.destroy)
  raw.send({ type: 'watch', user_ids: userIds })
  return { ...raw, frameAt: (position) => raw.frames[position] }
}

test('[W6] slow readers slow no other watcher, skip what was overtaken and end at the truth', () =>
  expectSlowReadersHarmless(scene, {
    openLine,
    targets: TARGETS,
    changes: 10_000,
    flushMs: 50,
  }))

test('[W6] somebody who asks and asks but never reads is cut off', async () => {
  const { url } = await scene.server({ frames_per_second: 100_000, offline_delay_ms: 0 })
  const watcher = await scene.person(url, 'watcher')
  await watch(watcher, ['greedy'])
  const greedy = await openRawSocket(url, 'greedy')
  scene.onEnd(greedy.destroy)
  await watcher.sees('greedy', isOnline)
  greedy.stopReading()
  const since = watcher.heard.length
  const asked = Array.from({ length: TARGETS }, (_, n) => `user-${n}`)
  for (let question = 0; question < QUESTIONS; question++) {
    greedy.send({ type: 'watch', user_ids: asked })
    // The server shares this event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await watcher.sees('greedy', isOffline, { since })
})
