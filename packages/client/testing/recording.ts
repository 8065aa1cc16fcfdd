// Records the events of a dot, and lets tests wait for them instead of sleeping.
import { decodeServerFrame } from '@greendot/protocol'
import type { Dot, DotFailure, DotState, Person } from '../src/types.ts'
import { sentFrame } from './sent-frames.ts'

/** Only for hangs: no test depends on how long something takes. */
const WAIT_MS = 30_000

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
  const checks = new Set<() => void>()
  const check = () => {
    for (const one of [...checks]) one()
  }
  dot.on('state', (state) => {
    states.push(state)
    check()
  })
  dot.on('change', (person) => {
    people.push(person)
    check()
  })
  dot.on('error', (failure) => {
    failures.push(failure)
    check()
  })
  dot.on('me', check)
  return {
    states,
    people,
    failures,
    of: (userId) => people.filter(({ user_id }) => user_id === userId),
    until(what, isSo) {
      return new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          checks.delete(checkHere)
          const received = JSON.stringify({ states, people, failures, me: dot.me }, null, 1)
          reject(new Error(`waited ${WAIT_MS} ms for ${what}; received ${received}`))
        }, WAIT_MS)
        function checkHere(): void {
          if (!isSo()) return
          checks.delete(checkHere)
          clearTimeout(limit)
          resolve()
        }
        checks.add(checkHere)
        checkHere()
      })
    },
  }
}

/** WebSockets that record what happens to them, and that a test can close; plain ones offer no subprotocol. */
export function recordingSockets({ isPlain = false } = {}) {
  const opened: WebSocket[] = []
  const sent: { type: string; user_ids?: string[]; known?: Record<string, number> }[] = []
  const texts: string[] = []
  /** Like `dialled 0`, `welcomed 0`, `closed 0`, in order. */
  const log: string[] = []
  const checks = new Set<() => void>()

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
      for (const check of [...checks]) check()
    }
    override close(code?: number): void {
      note(`closed ${this.number}`)
      super.close(code)
    }
  }

  function note(what: string): void {
    log.push(what)
    for (const check of [...checks]) check()
  }

  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => isSo() && checks.delete(check) && resolve()
      checks.add(check)
      check()
    })

  return {
    opened,
    sent,
    texts,
    log,
    sentOf: (type: string) => sent.filter((frame) => frame.type === type),
    /** Resolves once this was noted. */
    noted: (what: string) => until(() => log.includes(what)),
    /** Resolves once this text was sent. */
    said: (text: string) => until(() => texts.includes(text)),
    WebSocket: RecordingSocket as unknown as typeof WebSocket,
  }
}
