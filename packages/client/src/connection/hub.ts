// The one connection and everybody who shares it: each tab has a seat. The hub watches whomever any seat
// watches, is active when any seat is, and keeps the newest it knows of everybody, so that a new connection
// asks only for what changed.
import type { ClientFrame, OwnPresence, Presence } from '@greendot/protocol'
import { AWAY_AFTER_MS, createAttention } from '../activity/device-activity.ts'
import type { Runtime, Timer } from '../platform.ts'
import { createRoster, replaces } from '../roster/roster.ts'
import { createWatchlist } from '../roster/watchlist.ts'
import type { Answer, DotFailure } from '../types.ts'
import { createLink } from './link.ts'
import { CONTACTS, type Down, type LinkView, type Up } from './messages.ts'
import type { Dial, Incoming, Welcome } from './transport.ts'

const GOODBYE_MS_MAX = 2_000

export interface Hub {
  seat(send: (message: Down) => void): Seat
  /** Without a goodbye. */
  close(): void
}

export interface Seat {
  receive(message: Up): void
  /** The tab is gone. */
  leave(): void
}

export interface HubParts {
  runtime: Runtime
  dialSocket: Dial | undefined
  dialHttp: Dial | undefined
  /** Runs at this pace even where timers are slowed down. */
  pulse(intervalMs: number, run: () => void): Timer
  /** Rejects when there is none. */
  token(): Promise<string>
}

interface Sitting {
  send(message: Down): void
  watches: Set<string>
}

export function createHub({ runtime, dialSocket, dialHttp, pulse, token }: HubParts): Hub {
  const seats = new Set<Sitting>()
  const roster = createRoster()
  /** What was asked on this connection, by `ref`. */
  const questions = new Map<number, (answer: Answer) => void>()
  let lastRef = 0
  let me: OwnPresence | null = null
  /** Running while we have said goodbye and the server has not closed yet. */
  let goodbye: Timer | null = null
  let comesBack = false
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
    activity: () => attention.say(),
    pulse,
    onWelcome,
    onFrame,
    onDown: () => (goodbye ? leftServer() : show('down')),
    onLeft: leftServer,
    onTrouble: trouble,
  })

  const attention = createAttention({
    runtime,
    awayAfterMs: () => view.awayAfterMs,
    onChange: () => link.beat(),
  })

  const watchlist = createWatchlist({
    runtime,
    versionOf: (userId) => roster.get(userId)?.version,
    ask,
    onConfirmed(userIds) {
      tell({ type: 'people', people: known(userIds) })
      if (userIds.includes(CONTACTS)) seats.forEach(showContacts)
    },
    onDropped: roster.forget,
    onTrouble: trouble,
  })

  function tell(message: Down): void {
    for (const seat of seats) seat.send(message)
  }

  function trouble({ code, message }: DotFailure): void {
    tell({ type: 'trouble', failure: { code, message } })
  }

  const known = (userIds: Iterable<string>): Presence[] =>
    Array.from(userIds, (userId) => roster.get(userId)).filter((person) => person !== undefined)

  function show(state: LinkView['state']): void {
    view.state = state
    // What was asked and not answered is asked again by whoever wants to know.
    questions.clear()
    watchlist.reset(state === 'live')
    seats.forEach(showLink)
  }

  function showLink(seat: Sitting): void {
    seat.send({ type: 'link', ...view, activeAt: attention.latest() })
  }

  function showContacts(seat: Sitting): void {
    if (seat.watches.has(CONTACTS) && watchlist.isConfirmed(CONTACTS))
      seat.send({ type: 'contacts', people: known(watchlist.listed()) })
  }

  function ask(frame: ClientFrame, onAnswer: (answer: Answer) => void): void {
    questions.set(++lastRef, onAnswer)
    link.send({ ...frame, ref: lastRef })
  }

  function onWelcome(welcome: Welcome): void {
    // What one viewer may see is nothing that another one gets.
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
    attention.review()
  }

  function onMe(told: OwnPresence): void {
    if (!replaces(told, me)) return
    me = told
    tell({ type: 'me', me })
  }

  function onFrame(frame: Incoming): void {
    switch (frame.type) {
      case 'presence_state': {
        const isOfList = frame.states.filter(({ user_id }) => watchlist.tellsOf(user_id)).length > 0
        // Of a snapshot that was asked for, everything is told at once, with its answer.
        tellChanges(frame.states, watchlist.isConfirmed)
        if (isOfList) seats.forEach(showContacts)
        break
      }
      case 'presence_change':
        tellChanges(frame.changes, () => true)
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
        // The link gets another token, and that is all there is to it.
        else if (frame.code !== 'token_expired') trouble(frame)
    }
  }

  function tellChanges(told: readonly Presence[], isDue: (userId: string) => boolean): void {
    const people = roster
      .learn(told.filter(({ user_id }) => watchlist.isFollowed(user_id)))
      .map(({ person }) => person)
      .filter(({ user_id }) => isDue(user_id))
    if (people.length > 0) tell({ type: 'people', people })
  }

  function answer(ref: unknown, answer: Answer): void {
    const onAnswer = questions.get(ref as number)
    questions.delete(ref as number)
    onAnswer?.(answer)
  }

  function watch(seat: Sitting, userIds: readonly string[]): void {
    for (const userId of userIds) {
      seat.watches.add(userId)
      watchlist.want(userId)
    }
    const people = known(userIds.filter(watchlist.isConfirmed))
    if (people.length > 0) seat.send({ type: 'people', people })
    if (userIds.includes(CONTACTS)) showContacts(seat)
  }

  function unwatch(seat: Sitting, userIds: Iterable<string>): void {
    for (const userId of userIds) {
      seat.watches.delete(userId)
      if ([...seats].some(({ watches }) => watches.has(userId))) continue
      watchlist.unwant(userId)
    }
  }

  function leaveServer(): void {
    comesBack = false
    if (!link.isLive()) {
      leftServer()
      return
    }
    link.send({ type: 'leave' })
    goodbye ??= runtime.after(GOODBYE_MS_MAX, leftServer)
  }

  function leftServer(): void {
    goodbye?.stop()
    goodbye = null
    link.stop()
    show('left')
    if (comesBack) join()
  }

  function join(): void {
    comesBack = goodbye !== null
    if (comesBack) return
    if (view.state === 'left') view.state = 'down'
    link.start()
  }

  function receive(seat: Sitting, message: Up): void {
    switch (message.type) {
      case 'attach':
        view.userId ??= message.userId
        join()
        // All anew: whom it wants no more, and whom it wants still, is sorted out before anything is sent.
        unwatch(seat, seat.watches)
        watch(seat, message.ids)
        roster.learn(message.people.filter(({ user_id }) => watchlist.isFollowed(user_id)))
        attention.note(seat, message.activeAt)
        showLink(seat)
        if (me) seat.send({ type: 'me', me })
        break
      case 'watch':
        watch(seat, message.ids)
        break
      case 'unwatch':
        unwatch(seat, message.ids)
        break
      case 'active':
        if (message.at === 0) attention.noteIdle(seat)
        else attention.note(seat, message.at)
        seats.forEach(showLink)
        break
      case 'do':
        if (link.isLive())
          ask(message.frame, (answer) => seat.send({ type: 'done', ref: message.ref, answer }))
        break
      case 'poke':
        link.poke()
        showLink(seat)
        break
      case 'leave':
        leaveServer()
    }
  }

  return {
    seat(send) {
      const seat: Sitting = { send, watches: new Set() }
      seats.add(seat)
      return {
        receive: (message) => receive(seat, message),
        leave() {
          seats.delete(seat)
          attention.leave(seat)
          unwatch(seat, seat.watches)
        },
      }
    },
    close() {
      seats.clear()
      attention.stop()
      goodbye?.stop()
      link.stop()
    },
  }
}
