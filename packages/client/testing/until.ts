// Waits for what a dot tells instead of sleeping, and keeps all of it for a look back.
import type { Dot, DotFailure, DotState, Person } from '../src/types.ts'

const WAIT_MS = 5_000

export interface Diary {
  states: DotState[]
  people: Person[]
  failures: DotFailure[]
  /** What was told of one person, in order. */
  of(userId: string): Person[]
  /** Looks now and whenever something is told, until it is so. */
  until(what: string, isSo: () => boolean, withinMs?: number): Promise<void>
}

export function keepDiary(dot: Dot): Diary {
  const states: DotState[] = []
  const people: Person[] = []
  const failures: DotFailure[] = []
  const looks = new Set<() => void>()
  const look = () => {
    for (const one of [...looks]) one()
  }
  dot.on('state', (state) => {
    states.push(state)
    look()
  })
  dot.on('change', (person) => {
    people.push(person)
    look()
  })
  dot.on('error', (failure) => {
    failures.push(failure)
    look()
  })
  dot.on('me', look)
  return {
    states,
    people,
    failures,
    of: (userId) => people.filter(({ user_id }) => user_id === userId),
    until(what, isSo, withinMs = WAIT_MS) {
      return new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          looks.delete(lookHere)
          const heard = JSON.stringify({ states, people, failures, me: dot.me }, null, 1)
          reject(new Error(`waited ${withinMs} ms for ${what}; heard ${heard}`))
        }, withinMs)
        function lookHere(): void {
          if (!isSo()) return
          looks.delete(lookHere)
          clearTimeout(limit)
          resolve()
        }
        looks.add(lookHere)
        lookHere()
      })
    },
  }
}

/** WebSockets that note what happens to them, and that a test can take hold of. */
export function recordingSockets() {
  const opened: WebSocket[] = []
  const sent: { type: string; user_ids?: string[]; known?: Record<string, number> }[] = []
  const texts: string[] = []
  /** Like `dialled 0`, `welcomed 0`, `closed 0`: what our side did and heard, in order. */
  const log: string[] = []
  const looks = new Set<() => void>()

  class RecordingSocket extends WebSocket {
    readonly number = opened.length
    constructor(url: string | URL) {
      super(url)
      opened.push(this)
      note(`dialled ${this.number}`)
      this.addEventListener('message', ({ data }) => {
        if (JSON.parse(data).type === 'welcome') note(`welcomed ${this.number}`)
      })
    }
    override send(data: string): void {
      texts.push(data)
      sent.push(JSON.parse(data))
      super.send(data)
      for (const look of [...looks]) look()
    }
    override close(code?: number): void {
      note(`closed ${this.number}`)
      super.close(code)
    }
  }

  function note(what: string): void {
    log.push(what)
    for (const look of [...looks]) look()
  }

  const until = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => isSo() && looks.delete(look) && resolve()
      looks.add(look)
      look()
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
