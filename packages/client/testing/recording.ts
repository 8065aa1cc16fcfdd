// Records the events of a dot, and lets tests wait for them instead of sleeping.
import { decodeServerFrame } from '@greendot/protocol'
import { createLookout } from '../../../testing/clients/lookout.ts'
import { WAIT_MS } from '../../../testing/services/within.ts'
import type { Dot, DotFailure, DotState, Person } from '../src/types.ts'
import { sentFrame } from './sent-frames.ts'

export interface EventLog {
  states: DotState[]
  people: Person[]
  failures: DotFailure[]
  /** Changes of one user, in order. */
  of(userId: string): Person[]
  /** Checks now and after every event, until it is true. */
  until(what: string, isSo: () => boolean): Promise<void>
}

export function createEventLog(dot: Dot): EventLog {
  const states: DotState[] = []
  const people: Person[] = []
  const failures: DotFailure[] = []
  const lookout = createLookout()
  dot.on('state', (state) => {
    states.push(state)
    lookout.notify()
  })
  dot.on('change', (person) => {
    people.push(person)
    lookout.notify()
  })
  dot.on('error', (failure) => {
    failures.push(failure)
    lookout.notify()
  })
  dot.on('me', lookout.notify)
  return {
    states,
    people,
    failures,
    of: (userId) => people.filter(({ user_id }) => user_id === userId),
    async until(what, isSo) {
      await lookout.until(WAIT_MS, trueOf(isSo), () => {
        const received = JSON.stringify({ states, people, failures, me: dot.me }, null, 1)
        return `waited ${WAIT_MS} ms for ${what}; received ${received}`
      })
    },
  }
}

/** True, or nothing yet. */
const trueOf = (isSo: () => boolean) => () => isSo() || undefined

/** WebSockets that record what happens to them, and that a test can close; plain ones offer no subprotocol. */
export function recordingSockets({ isPlain = false } = {}) {
  const opened: WebSocket[] = []
  const sent: { type: string; user_ids?: string[]; known?: Record<string, number> }[] = []
  const texts: string[] = []
  /** Like `dialled 0`, `welcomed 0`, `closed 0`, in order. */
  const log: string[] = []
  const lookout = createLookout()

  class RecordingSocket extends WebSocket {
    readonly number = opened.length
    constructor(url: string | URL, protocols?: string[]) {
      super(url, isPlain ? [] : protocols)
      opened.push(this)
      note(`dialled ${this.number}`)
      this.addEventListener('message', ({ data }) => {
        if (decodeServerFrame(data).type === 'welcome') note(`welcomed ${this.number}`)
      })
    }
    override send(data: string): void {
      texts.push(data)
      sent.push(sentFrame(data))
      super.send(data)
      lookout.notify()
    }
    override close(code?: number): void {
      note(`closed ${this.number}`)
      super.close(code)
    }
  }

  function note(what: string): void {
    log.push(what)
    lookout.notify()
  }

  async function until(what: string, isSo: () => boolean): Promise<void> {
    await lookout.until(WAIT_MS, trueOf(isSo), () => {
      return `waited ${WAIT_MS} ms for "${what}"; noted ${log.join(', ')}; sent\n  ${texts.join('\n  ')}`
    })
  }

  return {
    opened,
    sent,
    texts,
    log,
    sentOf: (type: string) => sent.filter((frame) => frame.type === type),
    /** Resolves once this was noted. */
    noted: (what: string) => until(what, () => log.includes(what)),
    /** Resolves once this text was sent. */
    said: (text: string) => until(text, () => texts.includes(text)),
    WebSocket: RecordingSocket as unknown as typeof WebSocket,
  }
}
