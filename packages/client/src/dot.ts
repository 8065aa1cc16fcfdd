// What an app holds: its people, its listeners and what it has asked for. The connection is somewhere
// behind the uplink and may change hands at any time; whatever hub is there is told everything anew, so
// nothing here depends on one. Invariant: what is shown never goes back, whoever tells it.
import { type ClientFrame, isId, type OwnPresence } from '@greendot/protocol'
import { AWAY_AFTER_MS } from './attention.ts'
import { createChoices, unavailable } from './choices.ts'
import type { Runtime, Timer } from './platform.ts'
import type { LinkView, OpenUplink, Told, Uplink } from './ports.ts'
import { type Change, createRoster, replaces } from './roster.ts'
import type { Answer, Dot, DotEvents, DotFailure, DotState, Expiring, PersonListener } from './types.ts'

/** Shorter than this, an interruption shows nowhere. */
const STALE_AFTER_MS = 2_000

export interface DotParts {
  runtime: Runtime
  /** When somebody was last active here; infinite where nobody can tell. */
  activeAt: number
}

/** With what the page it lives in has to say. */
export interface InnerDot extends Dot {
  awayAfterMs(): number
  noteActivity(at: number): void
  poke(): void
  /** The page is put away, perhaps for good: lets go of everything, and keeps what it knows. */
  suspend(): void
  /** Finds a hub; nothing goes anywhere before the first time. */
  resume(open: OpenUplink): void
}

interface Watcher {
  listener: PersonListener | undefined
  /** Known when it came, and not told yet. */
  untold: Set<string>
}

export function createDot({ runtime, activeAt }: DotParts): InnerDot {
  const roster = createRoster()
  const watchers = new Map<string, Set<Watcher>>()
  const listeners: { [Name in keyof DotEvents]: Set<DotEvents[Name]> } = {
    state: new Set(),
    change: new Set(),
    me: new Set(),
    error: new Set(),
  }
  const choices = createChoices(runtime, (ref, frame) => uplink?.send({ type: 'do', ref, frame }))
  const goodbyes: (() => void)[] = []
  let isLeaving = false
  let uplink: Uplink | null = null
  let state: DotState = 'connecting'
  let me: OwnPresence | null = null
  let userId: string | null = null
  let sessionId: string | null = null
  let awayAfterMs = AWAY_AFTER_MS
  let chosenActiveAt: number | null = null
  let staleTimer: Timer | null = null

  function setState(next: DotState): void {
    if (next === state || state === 'closed') return
    state = next
    tell(listeners.state, state)
  }

  const fail = (failure: DotFailure) => tell(listeners.error, failure)

  function show(changes: readonly Change[]): void {
    for (const { person, before } of changes) {
      // Not a copy: whoever is stopped by a listener before them is told no more.
      for (const watcher of watchers.get(person.user_id) ?? []) {
        watcher.untold.delete(person.user_id)
        if (watcher.listener) tell([watcher.listener], person, before)
      }
      tell(listeners.change, person, before)
    }
  }

  function doubtSoon(): void {
    staleTimer ??= runtime.after(STALE_AFTER_MS, () => {
      if (state === 'live') setState('stale')
      show(roster.doubt())
    })
  }

  function onAttached(): void {
    if (state === 'left') return
    // What an older hub was asked, this one may not know.
    sessionId = null
    uplink?.send({
      type: 'attach',
      userId,
      ids: [...watchers.keys()],
      people: roster.people(),
      activeAt: chosenActiveAt ?? activeAt,
    })
    if (isLeaving) uplink?.send({ type: 'leave' })
  }

  function onDown(message: Told): void {
    switch (message.type) {
      case 'link':
        onLink(message)
        break
      case 'people':
        show(roster.learn(message.people.filter(({ user_id }) => watchers.has(user_id))))
        break
      case 'me':
        onMe(message.me)
        break
      case 'done':
        choices.settle(message.ref, message.answer)
        break
      case 'trouble':
        fail(message.failure)
    }
  }

  function onLink(link: LinkView): void {
    awayAfterMs = link.awayAfterMs
    if (activeAt < Number.POSITIVE_INFINITY) activeAt = link.activeAt
    if (link.userId !== null && link.userId !== userId) {
      // Another viewer sees other things.
      if (userId !== null) {
        roster.clear()
        me = null
      }
      userId = link.userId
    }
    if (link.state === 'left') onLeft()
    else if (link.state === 'down') doubtSoon()
    else onLive(link.sessionId)
  }

  function onLive(session: string | null): void {
    staleTimer?.stop()
    staleTimer = null
    setState('live')
    if (session === sessionId) return
    sessionId = session
    choices.askAgain()
  }

  function onLeft(): void {
    isLeaving = false
    setState('left')
    show(roster.doubt())
    for (const goodbye of goodbyes.splice(0)) goodbye()
    choices.refuseAll('this device has left')
  }

  function onMe(told: OwnPresence): void {
    if (!replaces(told, me) || JSON.stringify(told) === JSON.stringify(me)) return
    me = told
    tell(listeners.me, me)
  }

  function choose(frame: ClientFrame): Promise<Answer> {
    if (state === 'left' || state === 'closed')
      return Promise.resolve(unavailable(`this device has ${state}`))
    return choices.make(frame)
  }

  function watch(userIds: string | Iterable<string>, listener?: PersonListener): () => void {
    const ids = new Set(typeof userIds === 'string' ? [userIds] : userIds)
    for (const id of ids) {
      if (isId(id)) continue
      ids.delete(id)
      queueMicrotask(() => fail({ code: 'invalid_id', message: `${id} is not a user id` }))
    }
    const watcher: Watcher = { listener, untold: new Set() }
    const added = [...ids].filter((id) => !watchers.has(id))
    for (const id of ids) {
      if (roster.get(id)) watcher.untold.add(id)
      watchers.set(id, (watchers.get(id) ?? new Set()).add(watcher))
    }
    if (added.length > 0) uplink?.send({ type: 'watch', ids: added })
    // Not at once: whoever calls has not even got the way to stop it yet.
    if (listener && watcher.untold.size > 0) queueMicrotask(tellUntold)

    function tellUntold(): void {
      for (const id of watcher.untold) {
        const person = roster.get(id)
        if (person) tell([listener!], person, undefined)
      }
      watcher.untold.clear()
    }

    return () => {
      watcher.untold.clear()
      const gone = [...ids].filter((id) => watchers.get(id)?.delete(watcher) && watchers.get(id)?.size === 0)
      ids.clear()
      for (const id of gone) {
        watchers.delete(id)
        roster.forget(id)
      }
      if (gone.length > 0) uplink?.send({ type: 'unwatch', ids: gone })
    }
  }

  const letGo = (): void => {
    uplink?.close()
    uplink = null
  }

  return {
    get state() {
      return state
    },
    get me() {
      return me
    },
    get: (id) => roster.get(id),
    watch,
    on(name, listener) {
      // Wrapped, so that a listener added twice is two.
      const entry = ((...told: Parameters<typeof listener>) =>
        (listener as (...told: unknown[]) => void)(...told)) as typeof listener
      listeners[name].add(entry)
      return () => void listeners[name].delete(entry)
    },
    setAvailability: (status, options) =>
      choose({ type: 'set_availability', status, expires_at: instantOf(options) }),
    setCustomStatus: (status) =>
      choose({
        type: 'set_custom_status',
        text: status?.text ?? null,
        emoji: status?.emoji ?? null,
        expires_at: instantOf(status),
      }),
    setActivity(activity) {
      chosenActiveAt = activity === 'auto' ? null : activity === 'active' ? Number.POSITIVE_INFINITY : 0
      uplink?.send({ type: 'active', at: chosenActiveAt ?? activeAt })
    },
    leave() {
      if (state === 'left' || state === 'closed') return Promise.resolve()
      return new Promise((resolve) => {
        goodbyes.push(resolve)
        isLeaving = true
        uplink?.send({ type: 'leave' })
      })
    },
    join() {
      if (state === 'left') setState('connecting')
      else if (!isLeaving) return
      isLeaving = false
      onAttached()
    },
    close() {
      setState('closed')
      staleTimer?.stop()
      letGo()
      for (const goodbye of goodbyes.splice(0)) goodbye()
      choices.refuseAll('it was closed')
      watchers.clear()
      roster.clear()
    },

    awayAfterMs: () => awayAfterMs,
    noteActivity(at) {
      activeAt = at
      if (chosenActiveAt === null) uplink?.send({ type: 'active', at })
    },
    poke: () => uplink?.send({ type: 'poke' }),
    suspend() {
      letGo()
      doubtSoon()
    },
    resume(open) {
      if (state !== 'closed') uplink ??= open({ attached: onAttached, down: onDown })
    },
  }
}

function instantOf(options: Expiring | null | undefined): number | string | null {
  const expiresAt = options?.expiresAt ?? null
  return expiresAt instanceof Date ? expiresAt.getTime() : expiresAt
}

/** One listener that throws keeps no other from hearing; its error shows up as any uncaught one. */
function tell<Told extends unknown[]>(listeners: Iterable<(...told: Told) => void>, ...told: Told): void {
  for (const listener of listeners) {
    try {
      listener(...told)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}
