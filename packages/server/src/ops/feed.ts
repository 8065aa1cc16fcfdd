// The live feed of changes on the operator's dashboard. It costs nothing while no dashboard is open. Each
// reader gets a limited number of changes a second, then the number that was left out: the feed is for
// display, not for programs.
import type { Presence } from '@greendot/protocol'
import type { Clock, Timer } from '../platform/clock.ts'

const SHOWN_PER_SECOND = 20
const READERS_MAX = 50
const SECOND_MS = 1_000
const KEEP_ALIVE_S = 15

export interface Feed {
  /** A change of a user. `presence` is only called while a feed is open. */
  show(presence: () => Presence, at: number): void
  /** Null when too many feeds are open. */
  open(): ReadableStream<string> | null
  stop(): void
}

interface FeedReader {
  controller: ReadableStreamDefaultController<string>
  shown: number
  leftOut: number
  quietSeconds: number
}

export function createFeed(clock: Clock): Feed {
  const readers = new Set<FeedReader>()
  let timer: Timer | null = null

  const write = (reader: FeedReader, event: object) => {
    reader.quietSeconds = 0
    reader.controller.enqueue(`data: ${JSON.stringify(event)}\n\n`)
  }

  function everySecond(): void {
    for (const reader of readers) {
      if (reader.leftOut > 0) write(reader, { type: 'left_out', count: reader.leftOut })
      else if (++reader.quietSeconds >= KEEP_ALIVE_S) {
        reader.quietSeconds = 0
        reader.controller.enqueue(':\n\n')
      }
      reader.shown = 0
      reader.leftOut = 0
    }
  }

  return {
    show(presence, at) {
      if (readers.size === 0) return
      const event = { type: 'change', at, presence: presence() }
      for (const reader of readers) {
        // A slow reader gets fewer changes, so that memory stays bounded.
        const hasRoom = (reader.controller.desiredSize ?? 0) > 0
        if (reader.shown < SHOWN_PER_SECOND && hasRoom) {
          reader.shown++
          write(reader, event)
        } else reader.leftOut++
      }
    },
    open() {
      if (readers.size >= READERS_MAX) return null
      timer ??= clock.every(SECOND_MS, everySecond)
      let reader: FeedReader
      return new ReadableStream<string>(
        {
          start(controller) {
            reader = { controller, shown: 0, leftOut: 0, quietSeconds: 0 }
            readers.add(reader)
            controller.enqueue(':\n\n')
          },
          cancel: () => void readers.delete(reader),
        },
        { highWaterMark: SHOWN_PER_SECOND * 2 },
      )
    },
    stop() {
      timer?.stop()
      for (const { controller } of readers) controller.close()
      readers.clear()
    },
  }
}
