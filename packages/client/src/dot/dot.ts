// What an app holds: its people, its listeners and what it has asked for. The connection is somewhere
// behind the uplink and may change hands at any time; whatever hub is there is told everything anew, so
// nothing here depends on one. Invariant: what is shown never goes back, whoever tells it.
import {
  type ClientFrame,
  type InstantInput,
  isId,
  type OwnPresence,
  type Presence,
} from '@greendot/protocol'
import { AWAY_AFTER_MS, FOREVER } from '../activity/device-activity.ts'
import { CONTACTS, type Down, type LinkView, type OpenUplink, type Uplink } from '../connection/messages.ts'
import type { Runtime, Timer } from '../platform.ts'
import { type Change, createRoster, replaces } from '../roster/roster.ts'
import type { Answer, Dot, DotEvents, DotFailure, DotState, Person, PersonListener } from '../types.ts'
import { createListeners, type Listener, listen, tell } from './listeners.ts'
import { createChoices, refusal } from './requests.ts'

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

export function createDot({ runtime, activeAt }: DotParts): InnerDot {
  const roster = createRoster()
  const watchers = new Map<string, Set<PersonListener>>()
  const listeners = createListeners()
  const choices = createChoices(runtime, (ref, frame) => uplink?.send({ type: 'do', ref, frame }))
  const goodbyes: (() => void)[] = []
  let isLeaving = false
  let uplink: Uplink | null = null
  let state: DotState = 'connecting'
  let me: OwnPresence | null = null
  let contactIds: Set<string> | null = null
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

  function show(changes: readonly Change[], isNewList = false): void {
    for (const { person, before } of changes) {
      // Not a copy: whoever is stopped by a listener before them is told no more.
      tell(watchers.get(person.user_id) ?? [], person, before)
      tell(listeners.change, person, before)
    }
    if (isNewList || changes.some(({ person }) => contactIds?.has(person.user_id)))
      tell(listeners.contacts, contacts())
  }

  const isFollowed = (id: string) => watchers.has(id) || contactIds?.has(id)

  /** Whoever has left the list is one of whom nothing is known. */
  const contacts = (): Person[] => Array.from(contactIds ?? [], roster.get).filter(isKnown)

  function setContacts(people: readonly Presence[] | null): void {
    const former = contactIds ?? []
    contactIds = people && new Set(people.map(({ user_id }) => user_id))
    for (const id of former) if (!isFollowed(id)) roster.forget(id)
    if (people) show(roster.learn(people), true)
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

  function onDown(message: Down): void {
    switch (message.type) {
      case 'link':
        onLink(message)
        break
      case 'people':
        show(roster.learn(message.people.filter(({ user_id }) => isFollowed(user_id))))
        break
      case 'contacts':
        if (watchers.has(CONTACTS)) setContacts(message.people)
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
    // What was chosen here says nothing of when somebody was active.
    if (chosenActiveAt === null && activeAt < FOREVER) activeAt = link.activeAt
    if (link.userId !== null && link.userId !== userId) {
      if (userId !== null) becomeSomebodyElse()
      userId = link.userId
    }
    if (link.state === 'left') onLeft()
    else if (link.state === 'down') doubtSoon()
    else onLive(link.sessionId)
  }

  /** Another viewer sees other things; what was shown is in doubt until those come. */
  function becomeSomebodyElse(): void {
    me = null
    if (contactIds) setContacts([])
    show(roster.clear())
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
    end('left')
    show(roster.doubt())
  }

  function end(how: 'left' | 'closed'): void {
    setState(how)
    for (const goodbye of goodbyes.splice(0)) goodbye()
    choices.refuseAll(`this device has ${how}`)
  }

  function onMe(told: OwnPresence): void {
    if (!replaces(told, me) || JSON.stringify(told) === JSON.stringify(me)) return
    me = told
    tell(listeners.me, me)
  }

  function choose(frame: ClientFrame): Promise<Answer> {
    if (state === 'left' || state === 'closed') return Promise.resolve(refusal(`this device has ${state}`))
    return choices.make(frame)
  }

  function watch(userIds: string | Iterable<string>, listener?: PersonListener): () => void {
    const ids = new Set(typeof userIds === 'string' ? [userIds] : userIds)
    for (const id of ids) {
      if (isId(id)) continue
      ids.delete(id)
      queueMicrotask(() => fail({ code: 'invalid_id', message: `${id} is not a user id` }))
    }
    return follow(ids, listener)
  }

  function follow(ids: Set<string>, listener?: PersonListener): () => void {
    // A function of its own, so that a listener that watches twice is two.
    const watcher: PersonListener = (...told) => listener?.(...told)
    const known = [...ids].filter(roster.get)
    const added = [...ids].filter((id) => !watchers.has(id))
    for (const id of ids) watchers.set(id, (watchers.get(id) ?? new Set()).add(watcher))
    if (added.length > 0) uplink?.send({ type: 'watch', ids: added })
    // Not at once: whoever calls has not even got the way to stop it yet.
    queueMicrotask(() => {
      for (const id of known) {
        const person = roster.get(id)
        if (person && ids.has(id)) tell([watcher], person, undefined)
      }
    })

    return () => {
      const gone = [...ids].filter((id) => watchers.get(id)?.delete(watcher) && watchers.get(id)?.size === 0)
      ids.clear()
      for (const id of gone) {
        watchers.delete(id)
        if (!isFollowed(id)) roster.forget(id)
      }
      if (gone.includes(CONTACTS)) setContacts(null)
      if (gone.length > 0) uplink?.send({ type: 'unwatch', ids: gone })
    }
  }

  function watchContacts(listener: DotEvents['contacts']): () => void {
    const stops = [listen(listeners.contacts, listener), follow(new Set([CONTACTS]))]
    queueMicrotask(() => stops.length > 0 && contactIds && tell([listener], contacts()))
    return () => {
      for (const stop of stops.splice(0)) stop()
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
    watchContacts,
    on: (name, listener) => listen(listeners[name] as Set<Listener>, listener as Listener),
    setAvailability: (status, options) =>
      choose({ type: 'set_availability', status, expires_at: options?.expiresAt as InstantInput }),
    setCustomStatus: (status) =>
      choose({
        type: 'set_custom_status',
        text: status?.text ?? null,
        emoji: status?.emoji ?? null,
        expires_at: status?.expiresAt as InstantInput,
      }),
    setActivity(activity) {
      chosenActiveAt = activity === 'auto' ? null : activity === 'active' ? FOREVER : 0
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
      end('closed')
      staleTimer?.stop()
      letGo()
      watchers.clear()
      setContacts(null)
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

const isKnown = (person: Person | undefined): person is Person => !!person?.version
