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
import { isOffline, isOnline, useScene, watch } from './scene.ts'

const TARGETS = 500
const CHANGES = 10_000
const READERS = 20
const FLUSH_MS = 50
/** For a change on its way to somebody who reads, while all 500 change at once on a busy machine. */
const LATENCY_P99_MAX_MS = FLUSH_MS + 500
/** Less than half of what a queue of everything the readers have not read would hold. */
const GROWTH_MAX_BYTES = 64 * 1024 * 1024
/** The system buffers some megabytes for each reader; they must all be full before we measure. */
const FILLING_ROUNDS_MAX = 100
/** Each is answered with some fifty kilobytes, which makes more than the system will buffer. */
const QUESTIONS = 600

const scene = useScene()
const names = Array.from({ length: TARGETS }, (_, n) => `user-${n}`)

test('[W6] slow readers slow nobody, cost bounded memory and end at the truth', async () => {
  const server = await scene.process({ flush_ms: FLUSH_MS, frames_per_second: 1_000 })
  const crowd = await Promise.all(names.map((name) => member(server.url, name)))
  // Long objects, so that what is not read soon exceeds what the system will buffer.
  const text = '🟢'.repeat(CUSTOM_TEXT_CHARS_MAX)
  for (const socket of crowd) socket.send(JSON.stringify({ type: 'set_custom_status', text }))
  const watcher = await readerOf(server.url, 'watcher')
  await until(watcher, (seen) => names.every((name) => seen.get(name)!.custom_status !== null))
  const slow = await Promise.all(Array.from({ length: READERS }, (_, n) => readerOf(server.url, `slow-${n}`)))
  for (const { raw } of slow) raw.stopReading()

  let activity = HEARTBEAT_ACTIVE
  /** Everybody changes once; resolves, when the watcher has it all, with how long each change took. */
  async function changeAll(): Promise<number[]> {
    const awaited = new Map(watcher.seen.entries().map(([name, { version }]) => [name, version + 1]))
    const latencies: number[] = []
    activity = activity === HEARTBEAT_ACTIVE ? HEARTBEAT_IDLE : HEARTBEAT_ACTIVE
    const sentAt = Date.now()
    watcher.onPresence = () => void latencies.push(Date.now() - sentAt)
    for (const socket of crowd) socket.send(activity)
    await until(watcher, (seen) => names.every((name) => seen.get(name)!.version === awaited.get(name)))
    return latencies
  }

  let fillingRounds = 0
  while ((await metrics(server.url)).slowReaders < READERS) {
    await changeAll()
    if (++fillingRounds === FILLING_ROUNDS_MAX) throw new Error('the system buffers everything')
  }

  const { residentBytes: before } = await metrics(server.url)
  const bytesBefore = watcher.raw.bytes()
  const latencies: number[] = []
  for (let change = 0; change < CHANGES; change += TARGETS) latencies.push(...(await changeAll()))
  const { residentBytes: after } = await metrics(server.url)
  expect(READERS * (watcher.raw.bytes() - bytesBefore)).toBeGreaterThan(2 * GROWTH_MAX_BYTES)
  expect(after - before).toBeLessThan(GROWTH_MAX_BYTES)
  expect(latencies).toHaveLength(CHANGES)
  const p99Ms = latencies.toSorted((a, b) => a - b)[Math.floor(CHANGES * 0.99)]!
  expect(p99Ms).toBeLessThan(LATENCY_P99_MAX_MS)

  for (const { raw } of slow) raw.readOn()
  for (const reader of slow) {
    await until(reader, (seen) =>
      names.every((name) => seen.get(name)!.version === watcher.seen.get(name)!.version),
    )
    expect(Object.fromEntries(reader.seen)).toEqual(Object.fromEntries(watcher.seen))
    // They skipped what was overtaken; they did not get it all late.
    expect(reader.changes).toBeLessThan(fillingRounds * TARGETS + CHANGES / 2)
  }
  expect((await metrics(server.url)).slowReaders).toBe(0)
})

test('[W6] somebody who asks and asks but never reads is cut off', async () => {
  const { url } = await scene.server({ frames_per_second: 100_000, offline_delay_ms: 0 })
  const watcher = await scene.person(url, 'watcher')
  await watch(watcher, ['greedy'])
  const greedy = await openRawSocket(url, 'greedy')
  scene.onEnd(greedy.destroy)
  await watcher.sees('greedy', isOnline)
  greedy.stopReading()
  const since = watcher.heard.length
  for (let asked = 0; asked < QUESTIONS; asked++) {
    greedy.send({ type: 'watch', user_ids: names })
    // The server shares this event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await watcher.sees('greedy', isOffline, { since })
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
          if (known !== undefined && presence.version <= known.version) throw new Error('backwards')
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
