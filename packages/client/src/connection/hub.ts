// The one connection and the tabs that share it. The hub watches every target that any tab watches, is active
// if any tab is, and keeps the newest known presence of each target, so that a new connection asks only for
// what changed. A program without tabs counts as one tab.
import type { ClientFrame, OwnPresence, Presence } from '@greendot/protocol'
import { AWAY_AFTER_MS, createDeviceActivity } from '../activity/device-activity.ts'
import type { Runtime, Timer } from '../platform.ts'
import { createRoster, replaces } from '../roster/roster.ts'
import { CONTACTS, createWatchlist } from '../roster/watchlist.ts'
import type { Answer, DotFailure } from '../types.ts'
import { createLink } from './link.ts'
import type { FromHub, LinkView, ToHub } from './messages.ts'
import { type Dial, type Gone, type Incoming, isGone, type Welcome } from './transport.ts'

const LEAVE_MS_MAX = 2_000

export interface Hub {
  addTab(send: (message: FromHub) => void): HubTab
  /** Closes the connection without `leave`. */
  close(): void
}

export interface HubTab {
  receive(message: ToHub): void
  /** The tab is closed. */
  leave(): void
}

export interface HubParts {
  runtime: Runtime
  dialSocket: Dial | undefined
  dialHttp: Dial | undefined
  /** Like `setInterval`, but keeps its pace in hidden pages. */
  pulse(intervalMs: number, run: () => void): Timer
  /** Rejects if there is no token. */
  token(): Promise<string>
}

interface Tab {
  send(message: FromHub): void
  watches: Set<string>
}

export function createHub({ runtime, dialSocket, dialHttp, pulse, token }: HubParts): Hub {
  const tabs = new Set<Tab>()
  const roster = createRoster()
  /** Callbacks of requests on this connection, by `ref`. */
  const pending = new Map<number, (answer: Answer) => void>()
  let lastRef = 0
  let me: OwnPresence | null = null
  /** Set from sending `leave` until the server closes. */
  let leaveTimer: Timer | null = null
  let joinsAgain = false
  const view: Omit<LinkView, 'activeAt'> = {
    state: 'down',
    sessionId: null,
    userId: null,
    awayAfterMs: AWAY_AFTER_MS,
  }

  const link = createLink({
    runtime,
    dialSocket,
    dialHttp,
    token,
    activity: () => activity.report(),
    pulse,
    onWelcome,
    onFrame,
    onDown: () => (leaveTimer ? onGone('left') : show('down')),
    onGone,
    onError: fail,
  })

  const activity = createDeviceActivity({
    runtime,
    awayAfterMs: () => view.awayAfterMs,
    onChange: () => link.beat(),
  })

  const watchlist = createWatchlist({
    runtime,
    versionOf: (userId) => roster.get(userId)?.version,
    ask,
    onConfirmed(userIds) {
      broadcast({ type: 'people', people: known(userIds) })
      if (userIds.includes(CONTACTS)) tabs.forEach(showContacts)
    },
    onDropped: roster.forget,
    onError: fail,
  })

  function broadcast(message: FromHub): void {
    for (const tab of tabs) tab.send(message)
  }

  function fail({ code, message }: DotFailure): void {
    broadcast({ type: 'error', failure: { code, message } })
  }

  const known = (userIds: Iterable<string>): Presence[] =>
    Array.from(userIds, (userId) => roster.get(userId)).filter((person) => person !== undefined)

  function show(state: LinkView['state']): void {
    view.state = state
    // Unanswered requests are sent again by the tabs.
    pending.clear()
    watchlist.reset(state === 'live')
    tabs.forEach(showLink)
  }

  function showLink(tab: Tab): void {
    tab.send({ type: 'link', ...view, activeAt: activity.latest() })
  }

  function showContacts(tab: Tab): void {
    if (tab.watches.has(CONTACTS) && watchlist.isConfirmed(CONTACTS))
      tab.send({ type: 'contacts', people: known(watchlist.listed()) })
  }

  function ask(frame: ClientFrame, onAnswer: (answer: Answer) => void): void {
    pending.set(++lastRef, onAnswer)
    link.send({ ...frame, ref: lastRef })
  }

  function onWelcome(welcome: Welcome): void {
    // Presence is specific to the viewer: another user must not get it.
    const userId = welcome.user_id ?? view.userId
    if (view.userId !== null && view.userId !== userId) {
      roster.clear()
      me = null
    }
    view.userId = userId
    view.sessionId = welcome.session_id
    view.awayAfterMs = welcome.away_after_ms
    show('live')
    if (welcome.self) onMe(welcome.self)
    activity.review()
  }

  function onMe(incoming: OwnPresence): void {
    if (!replaces(incoming, me)) return
    me = incoming
    broadcast({ type: 'me', me })
  }

  function onFrame(frame: Incoming): void {
    switch (frame.type) {
      case 'presence_state': {
        const isOfList = frame.states.filter(({ user_id }) => watchlist.noteSnapshot(user_id)).length > 0
        // Targets of an unanswered watch are reported together, with its answer.
        broadcastChanges(frame.states, watchlist.isConfirmed)
        if (isOfList) tabs.forEach(showContacts)
        break
      }
      case 'presence_change':
        broadcastChanges(frame.changes, () => true)
        break
      case 'contacts_removed':
        watchlist.unlist(frame.user_ids)
        tabs.forEach(showContacts)
        break
      case 'self':
        onMe(frame.presence)
        break
      case 'ok':
        answer(frame.ref, { ok: true })
        break
      case 'error':
        if (frame.ref !== undefined)
          answer(frame.ref, { ok: false, code: frame.code, message: frame.message })
        // The link fetches a new token; the app has nothing to do.
        else if (frame.code !== 'token_expired') fail(frame)
    }
  }

  function broadcastChanges(incoming: readonly Presence[], isDue: (userId: string) => boolean): void {
    const people = roster
      .apply(incoming.filter(({ user_id }) => watchlist.isFollowed(user_id)))
      .map(({ person }) => person)
      .filter(({ user_id }) => isDue(user_id))
    if (people.length > 0) broadcast({ type: 'people', people })
  }

  function answer(ref: unknown, answer: Answer): void {
    const onAnswer = pending.get(ref as number)
    pending.delete(ref as number)
    onAnswer?.(answer)
  }

  function watch(tab: Tab, userIds: readonly string[]): void {
    for (const userId of userIds) {
      tab.watches.add(userId)
      watchlist.want(userId)
    }
    const people = known(userIds.filter(watchlist.isConfirmed))
    if (people.length > 0) tab.send({ type: 'people', people })
    if (userIds.includes(CONTACTS)) showContacts(tab)
  }

  function unwatch(tab: Tab, userIds: Iterable<string>): void {
    for (const userId of userIds) {
      tab.watches.delete(userId)
      if ([...tabs].some(({ watches }) => watches.has(userId))) continue
      watchlist.unwant(userId)
    }
  }

  function leave(): void {
    joinsAgain = false
    if (!link.isLive()) {
      onGone('left')
      return
    }
    link.send({ type: 'leave' })
    leaveTimer ??= runtime.after(LEAVE_MS_MAX, () => onGone('left'))
  }

  function onGone(how: Gone): void {
    leaveTimer?.stop()
    leaveTimer = null
    link.stop()
    show(how)
    if (joinsAgain) join()
  }

  function join(): void {
    joinsAgain = leaveTimer !== null
    if (joinsAgain) return
    if (isGone(view.state)) view.state = 'down'
    link.start()
  }

  function receive(tab: Tab, message: ToHub): void {
    switch (message.type) {
      case 'attach':
        view.userId ??= message.userId
        join()
        // Replaces the tab's whole watch list. Nothing is sent for ids that stay.
        unwatch(tab, tab.watches)
        watch(tab, message.ids)
        roster.apply(message.people.filter(({ user_id }) => watchlist.isFollowed(user_id)))
        activity.note(tab, message.activeAt)
        showLink(tab)
        if (me) tab.send({ type: 'me', me })
        break
      case 'watch':
        watch(tab, message.ids)
        break
      case 'unwatch':
        unwatch(tab, message.ids)
        break
      case 'active':
        if (message.at === 0) activity.noteIdle(tab)
        else activity.note(tab, message.at)
        tabs.forEach(showLink)
        break
      case 'request':
        if (link.isLive())
          ask(message.frame, (answer) => tab.send({ type: 'answer', ref: message.ref, answer }))
        break
      case 'poke':
        link.poke()
        showLink(tab)
        break
      case 'leave':
        leave()
    }
  }

  return {
    addTab(send) {
      const tab: Tab = { send, watches: new Set() }
      tabs.add(tab)
      return {
        receive: (message) => receive(tab, message),
        leave() {
          tabs.delete(tab)
          activity.leave(tab)
          unwatch(tab, tab.watches)
        },
      }
    },
    close() {
      tabs.clear()
      activity.stop()
      leaveTimer?.stop()
      link.stop()
    },
  }
}
