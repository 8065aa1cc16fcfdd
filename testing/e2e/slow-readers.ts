// Readers who stop reading, next to one who does not, by whichever way they watch. The server must neither
// hold what they leave unread nor make anybody wait for them, and when they read on they arrive at the truth.
import { expect } from 'bun:test'
import {
  CUSTOM_TEXT_CHARS_MAX,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
} from '@greendot/protocol'
import { webSocketUrl } from '../client.ts'
import { presencesIn } from '../hearing.ts'
import type { Scene } from './scene.ts'

/** A way to watch that can stop reading. */
export interface Line {
  /** What came so far, whether already looked at or not. */
  frameAt(position: number): ServerFrame | undefined
  bytes(): number
  /** Looks now and whenever something came, until there is something to find. */
  until<T>(find: () => T | undefined, withinMs: number): Promise<T>
  stopReading(): void
  readOn(): void
}

export interface SlowReading {
  /** Watches these. */
  openLine(url: string, viewerId: string, userIds: readonly string[]): Promise<Line>
  targets: number
  changes: number
  flushMs: number
  /** Less than half of what a queue of everything the readers have not read would hold. */
  growthBytesMax: number
}

const READERS = 20
/** For a change on its way to somebody who reads, while all change at once on a busy machine. */
const LATENCY_P99_SLACK_MS = 500
/** The system buffers some megabytes for each reader; they must all be full before we measure. */
const FILLING_ROUNDS_MAX = 100
const CATCH_UP_MS_MAX = 10_000

export async function expectSlowReadersHarmless(scene: Scene, reading: SlowReading): Promise<void> {
  const { targets, changes, flushMs, growthBytesMax } = reading
  const names = Array.from({ length: targets }, (_, n) => `user-${n}`)
  const { url } = await scene.process({ flush_ms: flushMs, frames_per_second: 1_000 })
  const enter = async (name: string) => readerOf(await reading.openLine(url, name, names), names)
  const crowd = await Promise.all(names.map((name) => member(scene, url, name)))
  // Long objects, so that what is not read soon exceeds what the system will buffer.
  const text = '🟢'.repeat(CUSTOM_TEXT_CHARS_MAX)
  for (const socket of crowd) socket.send(JSON.stringify({ type: 'set_custom_status', text }))
  const watcher = await enter('watcher')
  await watcher.seesAll(({ custom_status }) => custom_status?.text === text)
  const slow = await Promise.all(Array.from({ length: READERS }, (_, n) => enter(`slow-${n}`)))
  for (const { line } of slow) line.stopReading()

  let activity = HEARTBEAT_ACTIVE
  /** Everybody changes once; resolves, when the watcher has it all, with how long each change took. */
  async function changeAll(): Promise<number[]> {
    const before = new Map(watcher.seen)
    const latencies: number[] = []
    activity = activity === HEARTBEAT_ACTIVE ? HEARTBEAT_IDLE : HEARTBEAT_ACTIVE
    const sentAt = Date.now()
    watcher.onPresence = () => void latencies.push(Date.now() - sentAt)
    for (const socket of crowd) socket.send(activity)
    await watcher.seesAll(({ user_id, version }) => version === before.get(user_id)!.version + 1)
    return latencies
  }

  let fillingRounds = 0
  while ((await metrics(url)).slowReaders < READERS) {
    await changeAll()
    if (++fillingRounds === FILLING_ROUNDS_MAX) throw new Error('the system buffers everything')
  }

  const { residentBytes: before } = await metrics(url)
  const bytesBefore = watcher.line.bytes()
  const latencies: number[] = []
  for (let change = 0; change < changes; change += targets) latencies.push(...(await changeAll()))
  const { residentBytes: after } = await metrics(url)
  expect(READERS * (watcher.line.bytes() - bytesBefore)).toBeGreaterThan(2 * growthBytesMax)
  expect(after - before).toBeLessThan(growthBytesMax)
  expect(latencies).toHaveLength(changes)
  const p99Ms = latencies.toSorted((a, b) => a - b)[Math.floor(changes * 0.99)]!
  expect(p99Ms).toBeLessThan(flushMs + LATENCY_P99_SLACK_MS)

  for (const { line } of slow) line.readOn()
  for (const reader of slow) {
    await reader.seesAll(({ user_id, version }) => version === watcher.seen.get(user_id)!.version)
    expect(Object.fromEntries(reader.seen)).toEqual(Object.fromEntries(watcher.seen))
    // They skipped what was overtaken; they did not get it all late.
    expect(reader.changes()).toBeLessThan(fillingRounds * targets + changes / 2)
  }
  expect((await metrics(url)).slowReaders).toBe(0)
}

/** One of the watched: sends, and takes no interest in what comes back. */
function member(scene: Scene, url: string, name: string): Promise<WebSocket> {
  const socket = new WebSocket(webSocketUrl(url, name))
  scene.onEnd(() => socket.close())
  return new Promise((resolve, reject) => {
    socket.onmessage = () => resolve(socket)
    socket.onclose = () => reject(new Error(`${name} was not let in`))
  })
}

interface Reader {
  line: Line
  seen: ReadonlyMap<string, Presence>
  onPresence: () => void
  changes(): number
  /** Resolves once the newest of everybody is accepted. */
  seesAll(accept: (presence: Presence) => boolean): Promise<true>
}

/** Holds the newest of each, in the order it came. */
async function readerOf(line: Line, names: readonly string[]): Promise<Reader> {
  const seen = new Map<string, Presence>()
  let position = 0
  let changes = 0

  function take(): void {
    for (let frame = line.frameAt(position); frame !== undefined; frame = line.frameAt(++position)) {
      if (frame.type === 'presence_change') changes += frame.changes.length
      for (const presence of presencesIn(frame)) {
        const known = seen.get(presence.user_id)
        if (known !== undefined && presence.version <= known.version) throw new Error('backwards')
        seen.set(presence.user_id, presence)
        reader.onPresence()
      }
    }
  }

  const reader: Reader = {
    line,
    seen,
    onPresence: () => {},
    changes: () => changes,
    seesAll(accept) {
      const find = () => {
        take()
        return names.every((name) => seen.has(name) && accept(seen.get(name)!)) ? true : undefined
      }
      return line.until(find, CATCH_UP_MS_MAX)
    },
  }
  await reader.seesAll(() => true)
  return reader
}

async function metrics(url: string): Promise<{ residentBytes: number; slowReaders: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const gauge = (name: string) => Number(text.match(new RegExp(`^greendot_${name} (\\S+)$`, 'm'))?.[1])
  return { residentBytes: gauge('resident_bytes'), slowReaders: gauge('slow_readers') }
}
