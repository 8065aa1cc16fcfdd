// Thousands of simulated people, each with a client and a few contacts whom it watches, and the ground
// truth about them: who is really here, active or idle, since when, and what they say of themselves.
// What is true is what people mean: somebody whose connection broke and who is coming back is here.
import type { Status } from '@greendot/protocol'
import { within } from '../services/within.ts'
import { type Belief, type Client, createClient } from './client.ts'
import { createTimeline, type Timeline } from './timeline.ts'

const BEAT_TICK_MS = 20
const ARRIVALS_AT_A_TIME = 200
const LOOK_EVERY_MS = 50
const OPEN_MS_MAX = 30_000

export interface Person {
  readonly id: string
  readonly index: number
  readonly client: Client
  readonly status: Timeline<Status>
  readonly text: Timeline<string>
}

export interface Disagreement {
  watcher: string
  about: string
  believed: Belief | undefined
  truth: { status: Status; text: string }
}

export type Departure = 'left' | 'closed' | 'silent' | 'cut off'

export interface CrowdOptions {
  users: number
  contacts: number
  beatMs: number
  urls(): readonly string[]
  /** Somebody in the crowd came to believe something. */
  onBelief?(about: Person, belief: Belief, before: Belief | undefined, watcher: Person): void
  onDeparture?(person: Person, how: Departure, at: number): void
}

export interface Crowd {
  readonly people: readonly Person[]
  find(userId: string): Person | undefined
  /** Everybody given comes, and is ready when this resolves. */
  arrive(people: readonly Person[]): Promise<void>
  depart(people: readonly Person[], how: Exclude<Departure, 'cut off'>): void
  /** Their gateway has died, just now, and they do not come back. */
  cutOff(people: readonly Person[]): void
  flip(person: Person): void
  say(person: Person, text: string): void
  /** Flips people, one after the other, this many in a second; returns how to end it. */
  stir(among: readonly Person[], perSecond: number): () => void
  /** Who is connected there now. */
  on(url: string): Person[]
  /** Beliefs of everybody who is here that are not true. */
  disagreements(): Disagreement[]
  /** How long it took until nobody disagreed, for a while; null when it took too long. */
  agreement(msMax: number): Promise<number | null>
  /** Everybody who should be connected is. */
  isComplete(): boolean
  stop(): void
}

/** A window in which nothing turned up counts as quiet. */
const QUIET_MS = 500

export function createCrowd(options: CrowdOptions): Crowd {
  const { users, contacts, beatMs, urls, onBelief, onDeparture } = options
  const idOf = (index: number) => `u${index % users}`
  const people: Person[] = Array.from({ length: users }, (_, index) => {
    const client = createClient({
      userId: idOf(index),
      // On a ring everybody has as many watchers as contacts.
      watch: Array.from({ length: Math.min(contacts, users - 1) }, (_, step) => idOf(index + 1 + step)),
      urls,
      onBelief: (about, belief, before) => onBelief?.(find(about)!, belief, before, people[index]!),
    })
    const status = createTimeline<Status>('offline')
    return { id: idOf(index), index, client, status, text: createTimeline('') }
  })
  const find = (userId: string): Person | undefined => people[Number(userId.slice(1))]
  const isHere = (person: Person): boolean => person.status.current() !== 'offline'

  // Spread evenly, and by the clock: a timer that is late must not make hearts slow.
  let beaten = 0
  const beganAt = performance.now()
  const beating = setInterval(() => {
    const due = Math.floor(((performance.now() - beganAt) * users) / beatMs)
    for (beaten = Math.max(beaten, due - users); beaten < due; beaten++) people[beaten % users]!.client.beat()
  }, BEAT_TICK_MS)

  async function arrive(arriving: readonly Person[]): Promise<void> {
    let next = 0
    const worker = async (): Promise<void> => {
      while (next < arriving.length) {
        const person = arriving[next++]!
        person.status.set('online', performance.now())
        person.client.setActivity('active')
        const all = urls()
        await within(
          OPEN_MS_MAX,
          `the arrival of ${person.id}`,
          person.client.open(all[person.index % all.length]),
        )
      }
    }
    await Promise.all(Array.from({ length: ARRIVALS_AT_A_TIME }, worker))
  }

  function gone(person: Person, how: Departure): void {
    const at = performance.now()
    person.status.set('offline', at)
    onDeparture?.(person, how, at)
  }

  function flip(person: Person): void {
    const wasActive = person.status.current() === 'online'
    person.status.set(wasActive ? 'away' : 'online', performance.now())
    person.client.setActivity(wasActive ? 'idle' : 'active')
  }

  function disagreements(): Disagreement[] {
    const found: Disagreement[] = []
    for (const watcher of people) {
      if (!isHere(watcher)) continue
      for (let step = 1; step <= Math.min(contacts, users - 1); step++) {
        const about = people[(watcher.index + step) % users]!
        const believed = watcher.client.beliefs.get(about.id)
        const truth = { status: about.status.current(), text: about.text.current() }
        if (believed?.status === truth.status && believed.text === truth.text) continue
        // Whoever is still on the way has not been told of anybody.
        if (believed === undefined && !watcher.client.isReady()) continue
        found.push({ watcher: watcher.id, about: about.id, believed, truth })
      }
    }
    return found
  }

  return {
    people,
    find,
    arrive,
    depart(departing, how) {
      for (const person of departing) {
        if (how === 'left') person.client.leave()
        else if (how === 'closed') person.client.vanish()
        else person.client.fallSilent()
        gone(person, how)
      }
    },
    cutOff(lost) {
      for (const person of lost) {
        person.client.vanish()
        gone(person, 'cut off')
      }
    },
    flip,
    say(person, text) {
      person.text.set(text, performance.now())
      person.client.setText(text)
    },
    stir(among, perSecond) {
      let done = 0
      const startedAt = performance.now()
      const timer = setInterval(() => {
        const wanted = ((performance.now() - startedAt) / 1000) * perSecond
        for (; done < wanted; done++) {
          const person = among[done % among.length]!
          if (isHere(person) && person.client.isReady()) flip(person)
        }
      }, BEAT_TICK_MS)
      return () => clearInterval(timer)
    },
    on: (url) => people.filter(({ client }) => client.url() === url),
    disagreements,
    async agreement(msMax) {
      const startedAt = performance.now()
      let agreedAt: number | null = null
      while (performance.now() - startedAt < msMax + QUIET_MS) {
        if (disagreements().length > 0) agreedAt = null
        else agreedAt ??= performance.now()
        if (agreedAt !== null && performance.now() - agreedAt >= QUIET_MS) return agreedAt - startedAt
        await Bun.sleep(LOOK_EVERY_MS)
      }
      return null
    },
    isComplete: () => people.every((person) => !isHere(person) || person.client.isReady()),
    stop() {
      clearInterval(beating)
      for (const { client } of people) client.vanish()
    },
  }
}
