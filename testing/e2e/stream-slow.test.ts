// Readers of streams who stop reading, next to one who does not: the server holds back instead of
// holding what they leave unread, nobody waits for them, and when they read on they arrive at the truth.
import { expect, test } from 'bun:test'
import { CUSTOM_TEXT_CHARS_MAX, HEARTBEAT_ACTIVE, HEARTBEAT_IDLE } from '@greendot/protocol'
import { webSocketUrl } from '../client.ts'
import { useScene } from './scene.ts'
import { openStream, type TestStream } from './stream-client.ts'

const TARGETS = 200
const CHANGES = 6_000
const READERS = 20
const FLUSH_MS = 20
/** For a change on its way to somebody who reads, while all 200 change at once on a busy machine. */
const LATENCY_P99_MAX_MS = FLUSH_MS + 500
/** Less than half of what a queue of everything the readers have not read would hold. */
const GROWTH_MAX_BYTES = 40 * 1024 * 1024
/** The system buffers some megabytes for each reader; they must all be full before we measure. */
const FILLING_ROUNDS_MAX = 100

const scene = useScene()
const names = Array.from({ length: TARGETS }, (_, n) => `user-${n}`)

test('[W6] slow readers of streams slow nobody, cost bounded memory and end at the truth', async () => {
  const { url } = await scene.process({ flush_ms: FLUSH_MS, frames_per_second: 1_000 })
  const crowd = await Promise.all(names.map((name) => member(url, name)))
  // Long objects, so that what is not read soon exceeds what the system will buffer.
  const text = '🟢'.repeat(CUSTOM_TEXT_CHARS_MAX)
  for (const socket of crowd) socket.send(JSON.stringify({ type: 'set_custom_status', text }))
  const watcher = await readerOf(url, 'watcher')
  await watcher.until((version, name) => watcher.texts.get(name) === text && version > 0)
  const slow = await Promise.all(Array.from({ length: READERS }, (_, n) => readerOf(url, `slow-${n}`)))
  for (const { stream } of slow) stream.stopReading()

  let activity = HEARTBEAT_ACTIVE
  /** Everybody changes once; resolves, when the watcher has it all, with how long each change took. */
  async function changeAll(): Promise<number[]> {
    const awaited = new Map([...watcher.versions].map(([name, version]) => [name, version + 1]))
    const latencies: number[] = []
    activity = activity === HEARTBEAT_ACTIVE ? HEARTBEAT_IDLE : HEARTBEAT_ACTIVE
    const sentAt = Date.now()
    watcher.onPresence = () => void latencies.push(Date.now() - sentAt)
    for (const socket of crowd) socket.send(activity)
    await watcher.until((version, name) => version === awaited.get(name))
    return latencies
  }

  let fillingRounds = 0
  while ((await metrics(url)).slowReaders < READERS) {
    await changeAll()
    if (++fillingRounds === FILLING_ROUNDS_MAX) throw new Error('the system buffers everything')
  }
  const { residentBytes: before } = await metrics(url)
  const bytesBefore = watcher.stream.bytes()
  const latencies: number[] = []
  for (let change = 0; change < CHANGES; change += TARGETS) latencies.push(...(await changeAll()))
  const { residentBytes: after } = await metrics(url)
  expect(READERS * (watcher.stream.bytes() - bytesBefore)).toBeGreaterThan(2 * GROWTH_MAX_BYTES)
  expect(after - before).toBeLessThan(GROWTH_MAX_BYTES)
  expect(latencies).toHaveLength(CHANGES)
  const p99Ms = latencies.toSorted((a, b) => a - b)[Math.floor(CHANGES * 0.99)]!
  expect(p99Ms).toBeLessThan(LATENCY_P99_MAX_MS)

  for (const { stream } of slow) stream.readOn()
  for (const reader of slow) {
    await reader.until((version, name) => version === watcher.versions.get(name))
    // They skipped what was overtaken; they did not get it all late.
    expect(reader.changes()).toBeLessThan(fillingRounds * TARGETS + CHANGES / 2)
  }
  expect((await metrics(url)).slowReaders).toBe(0)
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
  stream: TestStream
  versions: Map<string, number>
  texts: Map<string, string | null>
  onPresence: () => void
  changes(): number
  until(isThere: (version: number, name: string) => boolean): Promise<true>
}

/** Watches everybody and holds the newest version of each, in the order it came. */
async function readerOf(url: string, viewerId: string): Promise<Reader> {
  const stream = await openStream(url, viewerId, names)
  scene.onEnd(stream.close)
  let position = 0
  let changes = 0
  function take(): void {
    for (; position < stream.told.length; position++) {
      const { frame } = stream.told[position]!
      if (frame.type === 'presence_change') changes += frame.changes.length
      const presences =
        frame.type === 'presence_state' ? frame.states : frame.type === 'presence_change' ? frame.changes : []
      for (const { user_id, version, custom_status } of presences) {
        if (version <= (reader.versions.get(user_id) ?? -1)) throw new Error('backwards')
        reader.versions.set(user_id, version)
        reader.texts.set(user_id, custom_status?.text ?? null)
        reader.onPresence()
      }
    }
  }
  const reader: Reader = {
    stream,
    versions: new Map(),
    texts: new Map(),
    onPresence: () => {},
    changes: () => changes,
    until(isThere) {
      const find = () => {
        take()
        return names.every((name) => isThere(reader.versions.get(name)!, name)) ? true : undefined
      }
      return stream.until('everybody', find, 10_000)
    },
  }
  take()
  return reader
}

async function metrics(url: string): Promise<{ residentBytes: number; slowReaders: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const gauge = (name: string) => Number(text.match(new RegExp(`^greendot_${name} (\\S+)$`, 'm'))?.[1])
  return { residentBytes: gauge('resident_bytes'), slowReaders: gauge('slow_readers') }
}
