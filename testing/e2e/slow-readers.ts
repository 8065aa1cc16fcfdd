// Readers who stop reading, next to one who does not, by WebSocket or stream. The server neither queues what
// they leave unread nor makes another watcher wait, and when they read on they arrive at the truth.
import { expect } from 'bun:test'
import {
  CUSTOM_TEXT_CHARS_MAX,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
} from '@greendot/protocol'
import { webSocketUrl } from '../clients/client.ts'
import { presencesIn } from '../clients/hearing.ts'
import { until, WAIT_MS } from '../services/within.ts'
import type { Scene } from './scene.ts'

/** A way to watch that can stop reading. */
export interface Line {
  /** What came so far, whether already looked at or not. */
  frameAt(position: number): ServerFrame | undefined
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
}

const READERS = 8
/** The system buffers some megabytes for each reader; they must all be full before it begins. */
const FILLING_ROUNDS_MAX = 100

export async function expectSlowReadersHarmless(scene: Scene, reading: SlowReading): Promise<void> {
  const { targets, changes, flushMs } = reading
  const names = Array.from({ length: targets }, (_, n) => `user-${n}`)
  // Watchers send no heartbeats, and all this takes long on a busy machine.
  const settings = { flush_ms: flushMs, frames_per_second: 1_000, heartbeat_ttl_ms: 600_000 }
  const { url } = await scene.process(settings)
  const enter = async (name: string) => readerOf(await reading.openLine(url, name, names), names)
  const sockets = await Promise.all(names.map((name) => member(scene, url, name)))
  // Long objects, so that what is not read soon exceeds what the system will buffer.
  const text = '🟢'.repeat(CUSTOM_TEXT_CHARS_MAX)
  for (const socket of sockets) socket.send(JSON.stringify({ type: 'set_custom_status', text }))
  const watcher = await enter('watcher')
  await watcher.seesAll(({ custom_status }) => custom_status?.text === text)
  const slow = await Promise.all(Array.from({ length: READERS }, (_, n) => enter(`slow-${n}`)))
  for (const { line } of slow) line.stopReading()

  let activity = HEARTBEAT_ACTIVE
  /** Every target changes once; resolves when the watcher has seen each of these changes. */
  async function changeAll(): Promise<void> {
    const before = new Map(watcher.seen)
    activity = activity === HEARTBEAT_ACTIVE ? HEARTBEAT_IDLE : HEARTBEAT_ACTIVE
    for (const socket of sockets) socket.send(activity)
    await watcher.seesAll(({ user_id, version }) => version === before.get(user_id)!.version + 1)
  }

  let fillingRounds = 0
  while ((await slowReaders(url)) < READERS) {
    await changeAll()
    if (++fillingRounds === FILLING_ROUNDS_MAX) throw new Error('the system buffers everything')
  }

  // The watcher is told of every change while none of the others reads.
  for (let change = 0; change < changes; change += targets) await changeAll()
  expect(await slowReaders(url)).toBe(READERS)

  for (const { line } of slow) line.readOn()
  for (const reader of slow) {
    await reader.seesAll(({ user_id, version }) => version === watcher.seen.get(user_id)!.version)
    expect(Object.fromEntries(reader.seen)).toEqual(Object.fromEntries(watcher.seen))
    // They skipped what was overtaken; they did not get it all late.
    expect(reader.changes()).toBeLessThan(fillingRounds * targets + changes / 2)
  }
  await until(WAIT_MS, 'no slow reader', async () => (await slowReaders(url)) === 0)
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
  changes(): number
  /** Resolves once the newest of every target is accepted. */
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
      }
    }
  }

  const reader: Reader = {
    line,
    seen,
    changes: () => changes,
    seesAll(accept) {
      const find = () => {
        take()
        return names.every((name) => seen.has(name) && accept(seen.get(name)!)) ? true : undefined
      }
      return line.until(find, WAIT_MS)
    },
  }
  await reader.seesAll(() => true)
  return reader
}

async function slowReaders(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(text.match(/^greendot_slow_readers (\S+)$/m)?.[1])
}
