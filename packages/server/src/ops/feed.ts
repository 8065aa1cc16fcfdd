// Changes as they are decided here, for the live feed of an operator's page. Costs nothing while nobody
// looks. Each looker gets so many a second and then how many were left out: it is for eyes, not for
// programs.
import type { Presence } from '@greendot/protocol'
import type { Clock, Timer } from '../platform/clock.ts'

const SHOWN_PER_SECOND = 20
const LOOKERS_MAX = 50
const SECOND_MS = 1_000
const KEEP_ALIVE_TURNS = 15

export interface Feed {
  /** A change of somebody; `presence` is only made when somebody looks. */
  show(presence: () => Presence, at: number): void
  /** Null when too many look already. */
  open(): ReadableStream<string> | null
  stop(): void
}

interface Looker {
  controller: ReadableStreamDefaultController<string>
  shown: number
  left: number
  quietTurns: number
}

export function createFeed(clock: Clock): Feed {
  const lookers = new Set<Looker>()
  let timer: Timer | null = null

  const write = (looker: Looker, event: object) => {
    looker.quietTurns = 0
    looker.controller.enqueue(`data: ${JSON.stringify(event)}\n\n`)
  }

  function turn(): void {
    for (const looker of lookers) {
      if (looker.left > 0) write(looker, { type: 'left_out', count: looker.left })
      else if (++looker.quietTurns >= KEEP_ALIVE_TURNS) {
        looker.quietTurns = 0
        looker.controller.enqueue(':\n\n')
      }
      looker.shown = 0
      looker.left = 0
    }
  }

  return {
    show(presence, at) {
      if (lookers.size === 0) return
      const event = { type: 'change', at, presence: presence() }
      for (const looker of lookers) {
        // Whoever reads slowly sees less, instead of filling our memory.
        const hasRoom = (looker.controller.desiredSize ?? 0) > 0
        if (looker.shown < SHOWN_PER_SECOND && hasRoom) {
          looker.shown++
          write(looker, event)
        } else looker.left++
      }
    },
    open() {
      if (lookers.size >= LOOKERS_MAX) return null
      timer ??= clock.every(SECOND_MS, turn)
      let looker: Looker
      return new ReadableStream<string>(
        {
          start(controller) {
            looker = { controller, shown: 0, left: 0, quietTurns: 0 }
            lookers.add(looker)
            controller.enqueue(':\n\n')
          },
          cancel: () => void lookers.delete(looker),
        },
        { highWaterMark: SHOWN_PER_SECOND * 2 },
      )
    },
    stop() {
      timer?.stop()
      for (const { controller } of lookers) controller.close()
      lookers.clear()
    },
  }
}
