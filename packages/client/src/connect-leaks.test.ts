// Watching and reconnecting leave nothing behind. Counts objects on the heap rather than bytes: a leak adds at
// least one object in every cycle. The server is another process, so that only the client is counted.
import { heapStats } from 'bun:jsc'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { spawnServer, type TestProcess } from '../../../testing/clients/server.ts'
import { createEventLog } from '../testing/recording.ts'
import { connectWith } from './connect.ts'
import { ambientRuntime, type Runtime } from './platform.ts'
import type { ConnectOptions, Dot } from './types.ts'

const ROUNDS = 4

let server: TestProcess
let dot: Dot

beforeEach(async () => {
  server = await spawnServer()
})
afterEach(async () => {
  dot.close()
  await server.stop()
})

function heapObjects(): number {
  Bun.gc(true)
  Bun.gc(true)
  return heapStats().objectCount
}

/**
 * The smallest growth of all rounds. A leak grows in every round; compiled code and buffers of the runtime grow
 * only in some.
 */
async function smallestGrowth(round: () => Promise<void>): Promise<number> {
  const growths: number[] = []
  await round()
  for (let before = heapObjects(); growths.length < ROUNDS; ) {
    await round()
    const after = heapObjects()
    growths.push(after - before)
    before = after
  }
  return Math.min(...growths)
}

/** A runtime that counts the timers that are set. */
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
  return { log: createEventLog(dot), timers }
}

describe('retained objects', () => {
  test('[X3] watching and stopping leaves no object', async () => {
    const CYCLES = 3_000
    const { log } = open()
    let index = 0
    const growth = await smallestGrowth(async () => {
      for (let cycle = 0; cycle < CYCLES; cycle++, index++) {
        const ids = Array.from({ length: 10 }, (_, offset) => `user-${index}-${offset}`)
        const stops = [dot.watch(ids, () => {}), dot.watch(ids[0]!)]
        // Most are stopped before anything is sent; some after the answer.
        if (index % 500 === 0) await log.until('a snapshot', () => dot.get(ids[0]!) !== undefined)
        for (const stop of stops) stop()
        expect(dot.get(ids[0]!)).toBeUndefined()
      }
      log.people.length = 0
    })
    expect(growth).toBeLessThan(CYCLES)
  }, 60_000)

  test('[X3] reconnecting leaves no object and no timer, and keeps what is watched', async () => {
    const CYCLES = 300
    let sockets: WebSocket[] = []
    class HeldSocket extends WebSocket {
      constructor(url: string | URL, protocols?: string[]) {
        super(url, protocols)
        sockets.push(this)
      }
    }
    const { log, timers } = open({ WebSocket: HeldSocket as unknown as typeof WebSocket })
    dot.watch(['bob', 'carol'])
    await log.until('carol', () => dot.get('carol') !== undefined)
    const timersAfter: number[] = []
    const growth = await smallestGrowth(async () => {
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        // As the server closes when it misses a heartbeat.
        sockets[0]!.close(4408)
        sockets = []
        // The request is answered on the next connection.
        expect(await dot.setCustomStatus({ text: `${cycle}` })).toEqual({ ok: true })
      }
      timersAfter.push(timers())
    })
    expect(growth).toBeLessThan(CYCLES)
    // Which timers are set at an instant differs by a few; a leak is one in every cycle.
    expect(Math.max(...timersAfter) - Math.min(...timersAfter)).toBeLessThan(CYCLES)
    await log.until('fresh presence', () => dot.get('bob')?.stale === false)
  }, 60_000)
})
