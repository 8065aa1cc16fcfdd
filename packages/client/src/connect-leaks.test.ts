// Nothing is left behind: not by watching and stopping, not by losing the connection and finding another.
// The server is another process, so that what grows here is ours.

import { heapStats } from 'bun:jsc'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { spawnServer, type TestProcess } from '../../../testing/server.ts'
import { keepDiary } from '../testing/until.ts'
import { connectWith } from './connect.ts'
import { ambientRuntime, type Runtime } from './platform.ts'
import type { ConnectOptions, Dot } from './types.ts'

/** Less than any object would take that every cycle leaves behind. The round before warms everything up. */
const BYTES_PER_WATCH_MAX = 24
const BYTES_PER_RECONNECT_MAX = 64

let server: TestProcess
let dot: Dot

beforeEach(async () => {
  server = await spawnServer()
})
afterEach(async () => {
  dot.close()
  await server.stop()
})

function heapBytes(): number {
  Bun.gc(true)
  Bun.gc(true)
  return heapStats().heapSize
}

/** A runtime that counts the timers it has set. */
function countingRuntime() {
  const runtime = ambientRuntime()
  let timers = 0
  const counting: Runtime = {
    ...runtime,
    random: () => 0,
    after(delayMs, run) {
      timers++
      let isSet = true
      const unset = () => {
        if (isSet) timers--
        isSet = false
      }
      const timer = runtime.after(delayMs, () => {
        unset()
        run()
      })
      return {
        stop() {
          unset()
          timer.stop()
        },
      }
    },
  }
  return { runtime: counting, timers: () => timers }
}

function open(options: Partial<ConnectOptions> = {}) {
  const { runtime, timers } = countingRuntime()
  dot = connectWith(runtime, { url: server.url, token: 'dev:alice', transport: 'websocket', ...options })
  return { diary: keepDiary(dot), timers }
}

describe('memory', () => {
  test('[X3] 10,000 times watching and stopping leave nothing', async () => {
    const { diary } = open()
    async function cycle(from: number, count: number): Promise<void> {
      for (let index = from; index < from + count; index++) {
        const ids = Array.from({ length: 10 }, (_, offset) => `user-${index}-${offset}`)
        const stops = [dot.watch(ids, () => {}), dot.watch(ids[0]!)]
        // Most are gone before the server hears of them; some are not.
        if (index % 500 === 0) await diary.until('somebody', () => dot.get(ids[0]!) !== undefined)
        for (const stop of stops) stop()
        expect(dot.get(ids[0]!)).toBeUndefined()
      }
      diary.people.length = 0
    }
    await cycle(0, 10_000)
    const before = heapBytes()
    await cycle(10_000, 10_000)
    const grown = heapBytes() - before
    console.log(`client, heap growth after 10,000 watch cycles: ${grown} bytes`)
    expect(grown).toBeLessThan(10_000 * BYTES_PER_WATCH_MAX)
  }, 60_000)

  test('[X3] 1,000 reconnects leave nothing, and nobody loses sight of anybody', async () => {
    let sockets: WebSocket[] = []
    class HeldSocket extends WebSocket {
      constructor(url: string | URL) {
        super(url)
        sockets.push(this)
      }
    }
    const { diary, timers } = open({ WebSocket: HeldSocket as unknown as typeof WebSocket })
    dot.watch(['bob', 'carol'])
    await diary.until('carol', () => dot.get('carol') !== undefined)
    async function cycle(count: number): Promise<void> {
      for (let index = 0; index < count; index++) {
        // As the server closes when it misses a heartbeat.
        sockets[0]!.close(4408)
        sockets = []
        // A choice is answered on the next connection, once that is there.
        expect(await dot.setCustomStatus({ text: `${index}` })).toEqual({ ok: true })
      }
    }
    await cycle(1_000)
    const before = heapBytes()
    const timersBefore = timers()
    await cycle(1_000)
    const grown = heapBytes() - before
    console.log(`client, heap growth after 1,000 reconnects: ${grown} bytes`)
    expect(grown).toBeLessThan(1_000 * BYTES_PER_RECONNECT_MAX)
    expect(timers()).toBe(timersBefore)
    expect(dot.get('bob')).toMatchObject({ stale: false })
    expect(diary.states).toEqual(['live'])
  }, 60_000)
})
