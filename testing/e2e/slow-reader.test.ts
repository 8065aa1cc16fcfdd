// Readers who stop reading, next to one who does not. The server must neither hold what they leave
// unread nor make anybody wait for them, and when they read on they arrive at the truth.
import { expect, test } from 'bun:test'
import {
  CUSTOM_TEXT_CHARS_MAX,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
} from '@greendot/protocol'
import { webSocketUrl } from '../client.ts'
import { openRawSocket, type RawSocket } from './raw-socket.ts'
import { useScene } from './scene.ts'

const TARGETS = 500
const CHANGES = 20_000
const READERS = 20
const FLUSH_MS = 50
/** For a change on its way to somebody who reads, while all 500 change at once. */
const LATENCY_P99_MAX_MS = FLUSH_MS + 200
/** Half of what the readers leave unread; the systems' socket buffers are not the server's memory. */
const GROWTH_MAX_BYTES = 64 * 1024 * 1024

const scene = useScene()
const names = Array.from({ length: TARGETS }, (_, n) => `user-${n}`)

test('[W6] a slow reader slows nobody, costs bounded memory and ends at the truth', async () => {
  const server = await scene.process({ flush_ms: FLUSH_MS, frames_per_second: 1_000 })
  const crowd = await Promise.all(names.map((name) => member(server.url, name)))
  // Long objects, so that what is not read soon exceeds what the system will buffer.
  const text = '🟢'.repeat(CUSTOM_TEXT_CHARS_MAX)
  for (const socket of crowd) socket.send(JSON.stringify({ type: 'set_custom_status', text }))

  const watcher = await readerOf(server.url, 'watcher')
  await until(watcher, (seen) => names.every((name) => seen.get(name)?.custom_status != null))
  const slow = await Promise.all(Array.from({ length: READERS }, (_, n) => readerOf(server.url, `slow-${n}`)))
  for (const { raw } of slow) raw.stopReading()
  const before = await metrics(server.url)

  const latencies: number[] = []
  for (let round = 1; round <= CHANGES / TARGETS; round++) {
    const version = new Map(watcher.seen.entries().map(([name, presence]) => [name, presence.version + 1]))
    const sentAt = Date.now()
    for (const socket of crowd) socket.send(round % 2 === 1 ? HEARTBEAT_IDLE : HEARTBEAT_ACTIVE)
    watcher.onPresence = (presence) => {
      if (presence.version === version.get(presence.user_id)) latencies.push(Date.now() - sentAt)
    }
    await until(watcher, (seen) => names.every((name) => seen.get(name)!.version === version.get(name)))
  }
  const after = await metrics(server.url)

  expect(latencies).toHaveLength(CHANGES)
  latencies.sort((a, b) => a - b)
  console.log({
    p50: latencies[CHANGES / 2],
    p99: latencies[CHANGES * 0.99],
    max: latencies.at(-1),
    before,
    after,
    bytes: watcher.raw.bytes(),
  })
  expect(latencies[Math.floor(CHANGES * 0.99)]!).toBeLessThan(LATENCY_P99_MAX_MS)
  expect(after.slowReaders).toBe(READERS)
  expect(after.residentBytes - before.residentBytes).toBeLessThan(GROWTH_MAX_BYTES)

  for (const { raw } of slow) raw.readOn()
  for (const reader of slow) {
    await until(reader, (seen) =>
      names.every((name) => seen.get(name)?.version === watcher.seen.get(name)!.version),
    )
    for (const name of names) expect(reader.seen.get(name)).toEqual(watcher.seen.get(name)!)
    // They skipped what was overtaken; they did not get it all late.
    expect(reader.changes).toBeLessThan(CHANGES)
    console.log(reader.changes)
  }
  expect((await metrics(server.url)).slowReaders).toBe(0)
})

/** One of the watched: sends, and takes no interest in what comes back. */
function member(url: string, name: string): Promise<WebSocket> {
  const socket = new WebSocket(webSocketUrl(url, name))
  scene.onEnd(() => socket.close())
  return new Promise((resolve, reject) => {
    socket.onmessage = () => resolve(socket)
    socket.onclose = () => reject(new Error(`${name} was not let in`))
  })
}

interface Reader {
  raw: RawSocket
  seen: Map<string, Presence>
  changes: number
  onPresence: (presence: Presence) => void
  take(frames: readonly ServerFrame[]): void
}

/** Watches everybody and holds the newest of each, in the order it came. */
async function readerOf(url: string, name: string): Promise<Reader> {
  const raw = await openRawSocket(url, name)
  scene.onEnd(raw.destroy)
  let position = 0
  const reader: Reader = {
    raw,
    seen: new Map(),
    changes: 0,
    onPresence: () => {},
    take(frames) {
      for (; position < frames.length; position++) {
        const frame = frames[position]!
        if (frame.type !== 'presence_change' && frame.type !== 'presence_state') continue
        const presences = frame.type === 'presence_change' ? frame.changes : frame.states
        if (frame.type === 'presence_change') reader.changes += presences.length
        for (const presence of presences) {
          const known = reader.seen.get(presence.user_id)
          if (known !== undefined) expect(presence.version).toBeGreaterThan(known.version)
          reader.seen.set(presence.user_id, presence)
          reader.onPresence(presence)
        }
      }
    },
  }
  raw.send({ type: 'watch', user_ids: names })
  await until(reader, (seen) => seen.size === TARGETS)
  return reader
}

function until(reader: Reader, isThere: (seen: ReadonlyMap<string, Presence>) => boolean): Promise<true> {
  return reader.raw.until((frames) => {
    reader.take(frames)
    return isThere(reader.seen) ? true : undefined
  }, 10_000)
}

async function metrics(url: string): Promise<{ residentBytes: number; slowReaders: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const gauge = (name: string) => Number(text.match(new RegExp(`^greendot_${name} (\\S+)$`, 'm'))?.[1])
  return { residentBytes: gauge('resident_bytes'), slowReaders: gauge('slow_readers') }
}
