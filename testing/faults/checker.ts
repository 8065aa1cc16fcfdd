// Judges what people are shown against what is true. It sees only what clients see: a few observers
// who together watch everybody, and every watcher in the crowd. A sighting is false when it was not
// true at any instant within the time that it may be late by; a ghost is timed from the departure
// to the instant an observer saw it.
import { type Belief, type Client, createClient } from './client.ts'
import type { Crowd, Departure, Person } from './users.ts'

const EXAMPLES_MAX = 3

export interface Ghost {
  person: Person
  how: Departure
  goneAt: number
  seenAt: number | null
}

export interface FalseSighting {
  about: Person
  belief: Belief
  before: Belief | undefined
  at: number
  by: string
}

export interface CheckerOptions {
  urls(): readonly string[]
  watchLimit: number
  beatMs: number
}

export interface Checker {
  /** To be called for everything anybody comes to believe. */
  judge(about: Person, belief: Belief, before: Belief | undefined, by: string): void
  departed(person: Person, how: Departure, at: number): void
  /** Opens the observers; done when they see everybody. */
  watch(crowd: Crowd): Promise<void>
  /** Forgets what was before. From now on a sighting may be late by `lateMs`. */
  begin(lateMs: number): void
  /** What is said of them is not held against anybody. */
  excuse(people: readonly Person[]): void
  excused(): readonly FalseSighting[]
  falseSightings(): readonly FalseSighting[]
  /** A few of them in words. */
  examples(): string[]
  ghosts(): readonly Ghost[]
  /** Those so far have been dealt with. */
  forgetGhosts(): void
  /** Transitions that the observers saw. */
  transitions(): number
  /** What the observers believe of somebody. */
  believes(person: Person): Belief | undefined
  stop(): void
}

export function createChecker({ urls, watchLimit, beatMs }: CheckerOptions): Checker {
  const observers: Client[] = []
  const byId = new Map<string, Person>()
  let falseOnes = new Map<string, FalseSighting>()
  let excusedOnes: FalseSighting[] = []
  let excusedPeople = new Set<Person>()
  let ghosts = new Map<Person, Ghost>()
  let transitions = 0
  let lateMs = Number.POSITIVE_INFINITY
  let beganAt = 0

  function judge(about: Person, belief: Belief, before: Belief | undefined, by: string): void {
    const at = performance.now()
    const { status, text, version, hasDevices } = belief
    if (before?.status === status && before.text === text && before.hasDevices === hasDevices) return
    const from = at - lateMs
    // A first sighting may come from the archive, which knows who is here and not on what.
    const fits = before === undefined || hasDevices === (status !== 'offline')
    const isTrue = fits && about.status.wasWithin(status, from, at) && about.text.wasWithin(text, from, at)
    if (isTrue) return
    const sighting = { about, belief, before, at, by }
    if (excusedPeople.has(about)) excusedOnes.push(sighting)
    else falseOnes.set(`${about.id} ${version} ${status} ${text}`, sighting)
  }

  function observe(about: Person, belief: Belief, before: Belief | undefined, by: string): void {
    if (before?.status !== belief.status) transitions++
    judge(about, belief, before, by)
    const ghost = ghosts.get(about)
    if (ghost !== undefined && belief.status === 'offline') ghost.seenAt ??= performance.now()
  }

  const beating = setInterval(() => {
    for (const observer of observers) observer.beat()
  }, beatMs)

  return {
    judge,
    departed: (person, how, goneAt) => void ghosts.set(person, { person, how, goneAt, seenAt: null }),
    async watch({ people }) {
      for (const person of people) byId.set(person.id, person)
      const ids = people.map(({ id }) => id)
      for (let from = 0; from < ids.length; from += watchLimit) {
        const userId = `observer-${observers.length}`
        const watch = ids.slice(from, from + watchLimit)
        const onBelief = (id: string, belief: Belief, before: Belief | undefined) =>
          observe(byId.get(id)!, belief, before, userId)
        observers.push(createClient({ userId, watch, urls, onBelief }))
      }
      // The last of the gateways: tests break the first.
      await Promise.all(observers.map((observer) => observer.open(urls().at(-1))))
    },
    begin(ms) {
      lateMs = ms
      beganAt = performance.now()
      falseOnes = new Map()
      excusedOnes = []
      excusedPeople = new Set()
      ghosts = new Map()
      transitions = 0
    },
    excuse(people) {
      for (const person of people) excusedPeople.add(person)
    },
    excused: () => excusedOnes,
    falseSightings: () => [...falseOnes.values()],
    examples: () =>
      [...falseOnes.values()].slice(0, EXAMPLES_MAX).map(({ about, belief, before, at, by }) => {
        const truth = `${about.status.current()} since ${seconds(about.status.since() - beganAt)} s`
        const shown = `${before?.status ?? 'nothing'} -> ${belief.status} ${belief.text} (version ${belief.version})`
        return `${seconds(at - beganAt)} s: ${by} saw ${about.id} ${shown}, true is ${truth}`
      }),
    ghosts: () => [...ghosts.values()],
    forgetGhosts() {
      ghosts = new Map()
    },
    transitions: () => transitions,
    believes: (person) => observers[Math.floor(person.index / watchLimit)]?.beliefs.get(person.id),
    stop() {
      clearInterval(beating)
      for (const observer of observers) observer.vanish()
    },
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2)
