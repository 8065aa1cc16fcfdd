// Lanes over real sockets of clients that do not read, and their order and limits on a socket made by hand.
import { describe, expect, test } from 'bun:test'
import type { Server } from 'bun'
import { openRawSocket } from '../../../../../testing/e2e/raw-socket.ts'
import { until, WAIT_MS } from '../../../../../testing/services/within.ts'
import { createLanes, type Lanes, UNSENT_BYTES_MAX, WAITING_BYTES_MAX } from './lanes.ts'
import type { Socket, SocketData } from './session-table.ts'

const QUESTION = { type: 'watch', filler: 'x'.repeat(55_000) }
const ANSWER_BYTES = 300_000
const QUESTIONS = 150
/** What one read from the system may bring at once. */
const READ_BYTES_MAX = 1024 * 1024

interface Answering {
  server: Server<SocketData>
  lanes: Lanes
  socket(): Socket
  answered(): number
  unsentMax(): number
  waitingBytesMax(): number
}

/** Answers every frame with a long one that has its number. */
function startAnswering(): Answering {
  const lanes = createLanes((error) => {
    throw error
  })
  let socket: Socket | null = null
  let [received, answered, unsentMax, waitingBytesMax] = [0, 0, 0, 0]
  const filler = 'y'.repeat(ANSWER_BYTES)
  const server = Bun.serve<SocketData>({
    port: 0,
    fetch: (request, one) => (one.upgrade(request, { data: 0 }) ? undefined : new Response()),
    websocket: {
      backpressureLimit: 1024 * 1024 * 1024,
      open(opened) {
        socket = opened
        opened.send('{"type":"welcome"}')
      },
      message(from, message) {
        received += message.length
        lanes.add(from, message.length, async () => {
          // The answer comes in a later turn, as that of a real question does.
          await new Promise(setImmediate)
          from.send(JSON.stringify({ type: 'ok', ref: answered++, filler }))
          unsentMax = Math.max(unsentMax, from.getBufferedAmount())
        })
        waitingBytesMax = Math.max(waitingBytesMax, received - answered * message.length)
      },
      drain: (from) => lanes.drained(from),
      close: (from) => lanes.drop(from),
    },
  })
  return {
    server,
    lanes,
    socket: () => socket!,
    answered: () => answered,
    unsentMax: () => unsentMax,
    waitingBytesMax: () => waitingBytesMax,
  }
}

/** A client that has asked so much, without reading the answers, that its lane is paused. */
async function askWithoutReading() {
  const serving = startAnswering()
  const client = await openRawSocket(serving.server.url.href.replace(/\/$/, ''), 'bob')
  client.stopReading()
  for (let asked = 0; asked < QUESTIONS; asked++) client.send(QUESTION)
  await until(WAIT_MS, 'a pause', async () => serving.socket().isPaused)
  return { serving, client }
}

describe('a client that asks and does not read', () => {
  test('[W6] has a bounded number of unsent and of waiting bytes, and gets every answer when it reads on', async () => {
    const { serving, client } = await askWithoutReading()
    expect(serving.answered()).toBeLessThan(QUESTIONS)
    client.readOn()
    const refs = await client.until((frames) => {
      const found = frames.flatMap((frame) => (frame.type === 'ok' ? [frame.ref] : []))
      return found.length === QUESTIONS ? found : undefined
    })
    expect(refs).toEqual(Array.from({ length: QUESTIONS }, (_, asked) => asked))
    expect(serving.unsentMax()).toBeLessThan(UNSENT_BYTES_MAX + 2 * ANSWER_BYTES)
    expect(serving.waitingBytesMax()).toBeLessThan(WAITING_BYTES_MAX + READ_BYTES_MAX)
    await until(WAIT_MS, 'an empty lane', async () => serving.lanes.count() === 0)
    client.destroy()
    await serving.server.stop(true)
  })

  test('[W6] leaves nothing behind when it is ended', async () => {
    const { serving, client } = await askWithoutReading()
    client.destroy()
    // The system need not say that a client is gone whose socket is not read from; its time to live ends it.
    serving.socket().terminate()
    await until(WAIT_MS, 'no lane', async () => serving.lanes.count() === 0)
    await serving.server.stop(true)
  })
})

describe('a lane', () => {
  const quiet = () => ({ isPaused: false, getBufferedAmount: () => 0 }) as unknown as Socket

  test('[W1] runs at once when nothing waits, and in order otherwise', async () => {
    const lanes = createLanes(() => {})
    const socket = quiet()
    const done: number[] = []
    const first = Promise.withResolvers<void>()
    lanes.add(socket, 1, () => first.promise.then(() => void done.push(1)))
    lanes.add(socket, 1, async () => void done.push(2))
    lanes.add(quiet(), 1, async () => void done.push(3))
    expect(done).toEqual([3])
    first.resolve()
    await until(WAIT_MS, 'an empty lane', async () => lanes.count() === 0)
    expect(done).toEqual([3, 1, 2])
    expect(lanes.count()).toBe(0)
  })

  test('[W6] refuses more frames than may wait, and goes on after one that failed', async () => {
    const errors: unknown[] = []
    const lanes = createLanes((error) => void errors.push(error))
    const socket = quiet()
    const first = Promise.withResolvers<void>()
    lanes.add(socket, 1, () => first.promise)
    let runs = 0
    let accepted = 1
    while (lanes.add(socket, 1, async () => void runs++)) accepted++
    expect(accepted).toBe(200)
    first.reject(new Error('on purpose'))
    await until(WAIT_MS, 'an empty lane', async () => lanes.count() === 0)
    expect([runs, errors.length, lanes.count()]).toEqual([199, 1, 0])
  })
})
