// Compares the states that clients are shown with the true ones. It knows only what clients receive: those of
// a few observers that together watch all users, and of every simulated user. A transition is false when it
// was not true at any instant within the time that it may be late by. A ghost is timed from the departure to
// the instant an observer was shown it.
import { chunksOf } from '../../packages/server/src/platform/chunks.ts'
import { type Client, createClient, type ShownState } from './client.ts'
import type { Departure, SimulatedUsers, User } from './users.ts'

const EXAMPLES_MAX = 3

export interface Ghost {
  user: User
  how: Departure
  goneAt: number
  seenAt: number | null
}

export interface FalseTransition {
  about: User
  state: ShownState
  before: ShownState | undefined
  at: number
  by: string
}

export interface CheckerOptions {
  urls(): readonly string[]
  watchLimit: number
  beatMs: number
}

export interface Checker {
  /** To be called for each state that a client is shown. */
  check(about: User, state: ShownState, before: ShownState | undefined, by: string): void
  departed(user: User, how: Departure, at: number): void
  /** Connects the observers; resolves when they have the states of all users. */
  watch(users: SimulatedUsers): Promise<void>
  /** Forgets everything so far. From now on a transition may be late by `lateMs`. */
  begin(lateMs: number): void
  /** False transitions of these users are expected, and counted apart. */
  excuse(users: readonly User[]): void
  excused(): readonly FalseTransition[]
  falseTransitions(): readonly FalseTransition[]
  /** A few of them as texts. */
  examples(): string[]
  ghosts(): readonly Ghost[]
  /** The caller has checked the ghosts so far. */
  forgetGhosts(): void
  /** Transitions that the observers were shown. */
  transitions(): number
  /** The state of this user that an observer was shown last. */
  shown(user: User): ShownState | undefined
  stop(): void
}

export function createChecker({ urls, watchLimit, beatMs }: CheckerOptions): Checker {
  const observers: Client[] = []
  const byId = new Map<string, User>()
  let falseTransitionsByKey = new Map<string, FalseTransition>()
  let excusedTransitions: FalseTransition[] = []
  let excusedUsers = new Set<User>()
  let ghosts = new Map<User, Ghost>()
  let transitions = 0
  let lateMs = Number.POSITIVE_INFINITY
  let beganAt = 0

  function check(about: User, state: ShownState, before: ShownState | undefined, by: string): void {
    const at = performance.now()
    const { status, text, version, hasDevices } = state
    if (before?.status === status && before.text === text && before.hasDevices === hasDevices) return
    const from = at - lateMs
    // A first state may come from the archive, which has the status and no devices.
    const hasRightDevices = before === undefined || hasDevices === (status !== 'offline')
    const isTrue =
      hasRightDevices && about.status.wasWithin(status, from, at) && about.text.wasWithin(text, from, at)
    if (isTrue) return
    const transition = { about, state, before, at, by }
    if (excusedUsers.has(about)) excusedTransitions.push(transition)
    else falseTransitionsByKey.set(`${about.id} ${version} ${status} ${text}`, transition)
  }

  function observe(about: User, state: ShownState, before: ShownState | undefined, by: string): void {
    if (before?.status !== state.status) transitions++
    check(about, state, before, by)
    const ghost = ghosts.get(about)
    if (ghost !== undefined && state.status === 'offline') ghost.seenAt ??= performance.now()
  }

  const beating = setInterval(() => {
    for (const observer of observers) observer.beat()
  }, beatMs)

  return {
    check,
    departed: (user, how, goneAt) => void ghosts.set(user, { user, how, goneAt, seenAt: null }),
    async watch({ all }) {
      for (const user of all) byId.set(user.id, user)
      const ids = all.map(({ id }) => id)
      for (const watch of chunksOf(ids, watchLimit)) {
        const userId = `observer-${observers.length}`
        const onState = (id: string, state: ShownState, before: ShownState | undefined) =>
          observe(byId.get(id)!, state, before, userId)
        observers.push(createClient({ userId, watch, urls, onState }))
      }
      // On the last gateway: tests break the first.
      await Promise.all(observers.map((observer) => observer.open(urls().at(-1))))
    },
    begin(ms) {
      lateMs = ms
      beganAt = performance.now()
      falseTransitionsByKey = new Map()
      excusedTransitions = []
      excusedUsers = new Set()
      ghosts = new Map()
      transitions = 0
    },
    excuse(users) {
      for (const user of users) excusedUsers.add(user)
    },
    excused: () => excusedTransitions,
    falseTransitions: () => [...falseTransitionsByKey.values()],
    examples: () =>
      [...falseTransitionsByKey.values()].slice(0, EXAMPLES_MAX).map(({ about, state, before, at, by }) => {
        const truth = `${about.status.current()} since ${seconds(about.status.since() - beganAt)} s`
        const shown = `${before?.status ?? 'nothing'} -> ${state.status} ${state.text} (version ${state.version})`
        return `${seconds(at - beganAt)} s: ${by} saw ${about.id} ${shown}, true is ${truth}`
      }),
    ghosts: () => [...ghosts.values()],
    forgetGhosts() {
      ghosts = new Map()
    },
    transitions: () => transitions,
    shown: (user) => observers[Math.floor(user.index / watchLimit)]?.states.get(user.id),
    stop() {
      clearInterval(beating)
      for (const observer of observers) observer.terminate()
    },
  }
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2)
