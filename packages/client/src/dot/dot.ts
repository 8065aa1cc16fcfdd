// The handle that an app holds: known presence, listeners and pending requests. The hub behind the uplink may
// change at any time; each new hub gets everything again, so no state here depends on one.
// Invariant: shown presence never goes back to an older version, whichever hub sends it.
import {
  type ClientFrame,
  type InstantInput,
  isId,
  type OwnPresence,
  type Presence,
} from '@greendot/protocol'
import { AWAY_AFTER_MS, FOREVER } from '../activity/device-activity.ts'
import type { FromHub, LinkView, OpenUplink, Uplink } from '../connection/messages.ts'
import { type Gone, isGone } from '../connection/transport.ts'
import type { Runtime, Timer } from '../platform.ts'
import { type Change, createRoster, replaces } from '../roster/roster.ts'
import { CONTACTS } from '../roster/watchlist.ts'
import type {
  Answer,
  Dot,
  DotEvents,
  DotFailure,
  DotState,
  Person,
  PersonListener,
  SettingsAnswer,
  SettingsChange,
} from '../types.ts'
import { createListeners, type Listener, listen, notify } from './listeners.ts'
import { createRequests, failed } from './requests.ts'

/** Shorter interruptions are not shown. */
const STALE_AFTER_MS = 2_000

/** Why a request fails without being sent. */
const GONE: Record<Gone | 'closed', string> = {
  left: 'this device has left',
  disconnected: 'this device was disconnected',
  closed: 'this device has closed',
}

export interface DotParts {
  runtime: Runtime
  /** When the user was last active here; `FOREVER` outside of pages. */
  activeAt: number
  /** Changes the settings of the user, or reads them without a change. */
  callSettings(change?: SettingsChange): Promise<SettingsAnswer>
}

/** With the methods that the page uses. */
export interface InnerDot extends Dot {
  awayAfterMs(): number
  noteActivity(at: number): void
  poke(): void
  /** The page is hidden for good or frozen: closes the uplink and keeps what is known. */
  suspend(): void
  /** Opens an uplink unless there is one. */
  resume(open: OpenUplink): void
}

export function createDot({ runtime, activeAt, callSettings }: DotParts): InnerDot {
  const roster = createRoster()
  const watchers = new Map<string, Set<PersonListener>>()
  const listeners = createListeners()
  const requests = createRequests(runtime, (ref, frame) => uplink?.send({ type: 'request', ref, frame }))
  const name = runtime.newName()
  const leaving: (() => void)[] = []
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
    notify(listeners.state, state)
  }

  const fail = (failure: DotFailure) => notify(listeners.error, failure)

  function show(changes: readonly Change[], isNewList = false): void {
    for (const { person, before } of changes) {
      // Not a copy: a listener that an earlier one has stopped is not called.
      notify(watchers.get(person.user_id) ?? [], person, before)
      notify(listeners.change, person, before)
    }
    if (isNewList || changes.some(({ person }) => contactIds?.has(person.user_id)))
      notify(listeners.contacts, contacts())
  }

  const isFollowed = (id: string) => watchers.has(id) || contactIds?.has(id)

  const contacts = (): Person[] => Array.from(contactIds ?? [], (id) => roster.get(id)!)

  function setContacts(people: readonly Presence[] | null): void {
    const former = contactIds ?? []
    contactIds = people && new Set(people.map(({ user_id }) => user_id))
    for (const id of former) if (!isFollowed(id)) roster.forget(id)
    if (people) show(roster.apply(people), true)
  }

  function startStaleTimer(): void {
    staleTimer ??= runtime.after(STALE_AFTER_MS, () => {
      if (state === 'live') setState('stale')
      show(roster.markStale())
    })
  }

  function onAttached(): void {
    if (isGone(state)) return
    // A new hub may not know the requests of the old one.
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

  function onDown(message: FromHub): void {
    switch (message.type) {
      case 'link':
        onLink(message)
        break
      case 'people':
        show(roster.apply(message.people.filter(({ user_id }) => isFollowed(user_id))))
        break
      case 'contacts':
        if (watchers.has(CONTACTS)) setContacts(message.people)
        break
      case 'me':
        onMe(message.me)
        break
      case 'answer':
        requests.answer(message.ref, message.answer)
        break
      case 'error':
        fail(message.failure)
    }
  }

  function onLink(link: LinkView): void {
    awayAfterMs = link.awayAfterMs
    // An activity set by the app says nothing about input.
    if (chosenActiveAt === null && activeAt < FOREVER) activeAt = link.activeAt
    if (link.userId !== null && link.userId !== userId) {
      if (userId !== null) onUserChanged()
      userId = link.userId
    }
    if (isGone(link.state)) onGone(link.state)
    else if (link.state === 'down') startStaleTimer()
    else onLive(link.sessionId)
  }

  /** Presence is specific to the viewer: everything shown is stale until the new user's view arrives. */
  function onUserChanged(): void {
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
    requests.resend()
  }

  function onGone(how: Gone): void {
    isLeaving = false
    end(how)
    show(roster.markStale())
  }

  function end(how: Gone | 'closed'): void {
    setState(how)
    for (const resolve of leaving.splice(0)) resolve()
    requests.failAll(GONE[how])
  }

  function onMe(incoming: OwnPresence): void {
    if (!replaces(incoming, me) || JSON.stringify(incoming) === JSON.stringify(me)) return
    me = incoming
    notify(listeners.me, me)
  }

  function request(frame: ClientFrame): Promise<Answer> {
    if (isGone(state) || state === 'closed') return Promise.resolve(failed(GONE[state]))
    return requests.send(frame)
  }

  async function settings(change?: SettingsChange): Promise<SettingsAnswer> {
    if (state === 'closed') return failed(GONE[state])
    // The module that calls may be impossible to load.
    const answer = await callSettings(change).catch(({ message }) => failed(message))
    if (answer.ok) notify(listeners.settings, answer.settings)
    return answer
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
    // Wrapped, so that the same listener can watch twice.
    const watcher: PersonListener = (...args) => listener?.(...args)
    const known = [...ids].filter(roster.get)
    const added = [...ids].filter((id) => !watchers.has(id))
    for (const id of ids) watchers.set(id, (watchers.get(id) ?? new Set()).add(watcher))
    if (added.length > 0) uplink?.send({ type: 'watch', ids: added })
    // Later, because the caller does not have the stop function yet.
    queueMicrotask(() => {
      for (const id of known) {
        const person = roster.get(id)
        if (person && ids.has(id)) notify([watcher], person, undefined)
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
    queueMicrotask(() => stops.length > 0 && contactIds && notify([listener], contacts()))
    return () => {
      for (const stop of stops.splice(0)) stop()
    }
  }

  const closeUplink = (): void => {
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
      request({ type: 'set_availability', status, expires_at: options?.expiresAt as InstantInput }),
    setCustomStatus: (status) =>
      request({
        type: 'set_custom_status',
        text: status?.text ?? null,
        emoji: status?.emoji ?? null,
        expires_at: status?.expiresAt as InstantInput,
      }),
    settings: () => settings(),
    setSettings: settings,
    toString: () => name,
    setActivity(activity) {
      chosenActiveAt = activity === 'auto' ? null : activity === 'active' ? FOREVER : 0
      uplink?.send({ type: 'active', at: chosenActiveAt ?? activeAt })
    },
    leave() {
      if (isGone(state) || state === 'closed') return Promise.resolve()
      return new Promise((resolve) => {
        leaving.push(resolve)
        isLeaving = true
        uplink?.send({ type: 'leave' })
      })
    },
    join() {
      if (isGone(state)) setState('connecting')
      else if (!isLeaving) return
      isLeaving = false
      onAttached()
    },
    close() {
      end('closed')
      staleTimer?.stop()
      closeUplink()
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
      closeUplink()
      startStaleTimer()
    },
    resume(open) {
      if (state !== 'closed') uplink ??= open({ attached: onAttached, down: onDown })
    },
  }
}
