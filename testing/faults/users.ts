// Thousands of simulated users. Each has one client, which watches a few contacts, and the true state: online,
// away or offline since when, and the custom text. A user whose connection broke and whose client reconnects
// is truly online: the truth is what the user does, not what the network does.
import type { Status } from '@greendot/protocol'
import { within } from '../services/within.ts'
import { type Client, createClient, type ShownState } from './client.ts'
import { createTimeline, type Timeline } from './timeline.ts'

const BEAT_TICK_MS = 20
const CONNECTS_AT_A_TIME = 200
const CHECK_EVERY_MS = 50
const OPEN_MS_MAX = 30_000

export interface User {
  readonly id: string
  readonly index: number
  readonly client: Client
  readonly status: Timeline<Status>
  readonly text: Timeline<string>
}

export interface Disagreement {
  watcher: string
  about: string
  shown: ShownState | undefined
  truth: { status: Status; text: string }
}

export type Departure = 'left' | 'closed' | 'silent' | 'cut off'

export interface SimulatedUsersOptions {
  count: number
  contacts: number
  beatMs: number
  urls(): readonly string[]
  /** The client of `watcher` was told a new state of `about`. */
  onState?(about: User, state: ShownState, before: ShownState | undefined, watcher: User): void
  onDeparture?(user: User, how: Departure, at: number): void
}

export interface SimulatedUsers {
  readonly all: readonly User[]
  find(userId: string): User | undefined
  /** Connects these users; resolves when all of them have their snapshots. */
  connect(users: readonly User[]): Promise<void>
  disconnect(users: readonly User[], how: Exclude<Departure, 'cut off'>): void
  /** Their gateway died just now, and they do not reconnect. */
  cutOff(users: readonly User[]): void
  changeActivity(user: User): void
  setText(user: User, text: string): void
  /** Changes the activity of one user after the other, at this rate; the returned function stops it. */
  keepChanging(among: readonly User[], perSecond: number): () => void
  /** The users that are connected to this gateway. */
  on(url: string): User[]
  /** States that connected watchers have and that are not true. */
  disagreements(): Disagreement[]
  /** How long it took until all watchers had the true states and kept them; null after `msMax`. */
  waitForAgreement(msMax: number): Promise<number | null>
  /** All users that should be connected are. */
  isComplete(): boolean
  stop(): void
}

/** Watchers agree when no disagreement was found for this long. */
const QUIET_MS = 500

export function createSimulatedUsers(options: SimulatedUsersOptions): SimulatedUsers {
  const { count, contacts, beatMs, urls, onState, onDeparture } = options
  const idOf = (index: number) => `u${index % count}`
  const all: User[] = Array.from({ length: count }, (_, index) => {
    const client = createClient({
      userId: idOf(index),
      // On a ring each user has as many watchers as contacts.
      watch: Array.from({ length: Math.min(contacts, count - 1) }, (_, step) => idOf(index + 1 + step)),
      urls,
      onState: (about, state, before) => onState?.(find(about)!, state, before, all[index]!),
    })
    const status = createTimeline<Status>('offline')
    return { id: idOf(index), index, client, status, text: createTimeline('') }
  })
  const find = (userId: string): User | undefined => all[Number(userId.slice(1))]
  const isConnected = (user: User): boolean => user.status.current() !== 'offline'

  // Heartbeats are spread evenly and by the clock, so that a late timer does not slow them down.
  let beaten = 0
  const beganAt = performance.now()
  const beating = setInterval(() => {
    const due = Math.floor(((performance.now() - beganAt) * count) / beatMs)
    for (beaten = Math.max(beaten, due - count); beaten < due; beaten++) all[beaten % count]!.client.beat()
  }, BEAT_TICK_MS)

  async function connect(connecting: readonly User[]): Promise<void> {
    let next = 0
    const worker = async (): Promise<void> => {
      while (next < connecting.length) {
        const user = connecting[next++]!
        user.status.set('online', performance.now())
        user.client.setActivity('active')
        const choices = urls()
        await within(
          OPEN_MS_MAX,
          `the connect of ${user.id}`,
          user.client.open(choices[user.index % choices.length]),
        )
      }
    }
    await Promise.all(Array.from({ length: CONNECTS_AT_A_TIME }, worker))
  }

  function gone(user: User, how: Departure): void {
    const at = performance.now()
    user.status.set('offline', at)
    onDeparture?.(user, how, at)
  }

  function changeActivity(user: User): void {
    const wasActive = user.status.current() === 'online'
    user.status.set(wasActive ? 'away' : 'online', performance.now())
    user.client.setActivity(wasActive ? 'idle' : 'active')
  }

  function disagreements(): Disagreement[] {
    const found: Disagreement[] = []
    for (const watcher of all) {
      if (!isConnected(watcher)) continue
      for (let step = 1; step <= Math.min(contacts, count - 1); step++) {
        const about = all[(watcher.index + step) % count]!
        const shown = watcher.client.states.get(about.id)
        const truth = { status: about.status.current(), text: about.text.current() }
        if (shown?.status === truth.status && shown.text === truth.text) continue
        // A client that is still connecting has no snapshot yet.
        if (shown === undefined && !watcher.client.isReady()) continue
        found.push({ watcher: watcher.id, about: about.id, shown, truth })
      }
    }
    return found
  }

  return {
    all,
    find,
    connect,
    disconnect(leaving, how) {
      for (const user of leaving) {
        if (how === 'left') user.client.leave()
        else if (how === 'closed') user.client.terminate()
        else user.client.stopHeartbeats()
        gone(user, how)
      }
    },
    cutOff(lost) {
      for (const user of lost) {
        user.client.terminate()
        gone(user, 'cut off')
      }
    },
    changeActivity,
    setText(user, text) {
      user.text.set(text, performance.now())
      user.client.setText(text)
    },
    keepChanging(among, perSecond) {
      let done = 0
      const startedAt = performance.now()
      const timer = setInterval(() => {
        const wanted = ((performance.now() - startedAt) / 1000) * perSecond
        for (; done < wanted; done++) {
          const user = among[done % among.length]!
          if (isConnected(user) && user.client.isReady()) changeActivity(user)
        }
      }, BEAT_TICK_MS)
      return () => clearInterval(timer)
    },
    on: (url) => all.filter(({ client }) => client.url() === url),
    disagreements,
    async waitForAgreement(msMax) {
      const startedAt = performance.now()
      let agreedAt: number | null = null
      while (performance.now() - startedAt < msMax + QUIET_MS) {
        if (disagreements().length > 0) agreedAt = null
        else agreedAt ??= performance.now()
        if (agreedAt !== null && performance.now() - agreedAt >= QUIET_MS) return agreedAt - startedAt
        await Bun.sleep(CHECK_EVERY_MS)
      }
      return null
    },
    isComplete: () => all.every((user) => !isConnected(user) || user.client.isReady()),
    stop() {
      clearInterval(beating)
      for (const { client } of all) client.terminate()
    },
  }
}
