// The demo for one user: the street, the own card, the preview of viewers, and the list of changes. Switching
// the user ends it with `leave`.
import type { DotFailure, DotState, OwnPresence, Person, Presence } from '@greendot/client'
import { everyWhileVisible, now } from '../clock.ts'
import { h, setText } from '../dom.ts'
import { isStale, ownLookOf } from '../look.ts'
import { changeWords } from '../words.ts'
import type { DevParts } from './dev-parts.ts'
import { createEventList } from './event-list.ts'
import { createHero } from './hero.ts'
import { createOwnCard } from './own/own-card.ts'
import { createOwnConnection, type Laptop } from './own/own-connection.ts'
import { createStreet } from './street/street.ts'
import { createUserDialog } from './street/user-dialog.ts'
import { createWatchForm } from './street/watch-form.ts'
import { GUESTS, isNeighbour, NEIGHBOURS } from './users/sample-users.ts'
import { type Neighbours, startNeighbours } from './users/simulated-users.ts'
import { createViewerPreview } from './viewer/viewer-preview.ts'

const REFRESH_EVERY_MS = 10_000
const REFUSED: ReadonlySet<string> = new Set<DotFailure['code']>([
  'unauthorized',
  'token_expired',
  'forbidden',
])
const NOTICES: Partial<Record<DotState | Laptop, string>> = {
  stale: 'Connection lost. Coming back as soon as there is a server; until then this is what was last known.',
  closed: 'Your lid is closed: nothing new reaches you until you open it.',
  left: 'You said goodbye. This is what you saw when you left.',
  disconnected: 'The backend disconnected you. Reload the page to come back.',
}

export interface UserSession {
  element: HTMLElement
  stop(): Promise<void>
}

export interface UserSessionParts {
  name: string
  token: string
  deviceId: string
  watched: readonly string[]
  /** Null without dev mode. */
  dev: DevParts | null
  onLink(state: DotState | Laptop): void
  /** The token was refused. */
  onRefused?(failure: DotFailure): void
}

export function createUserSession(parts: UserSessionParts): UserSession {
  const { name, token, deviceId, watched, dev } = parts
  const known = new Map<string, Person>()
  const isSimulated = (userId: string) => dev?.hasNeighbours === true && isNeighbour(userId)
  let link: DotState = 'connecting'
  let me: OwnPresence | null = null

  const street = createStreet({
    myId: name,
    isSimulated,
    onOpen: (userId) => dialog.open(userId, personOf(userId), now()),
  })
  const dialog = createUserDialog({ myId: name, isDev: dev !== null })
  const events = createEventList()
  const hero = createHero(name, dev)
  const notice = h('p', { class: 'notice', role: 'status' })
  const connection = createOwnConnection({
    token,
    deviceId,
    on: { me: onMe, person: onPerson, link: onLink, laptop: review, error: onError },
  })
  const preview = dev
    ? createViewerPreview({
        name,
        viewers: [...GUESTS, ...NEIGHBOURS].filter((id) => id !== name),
      })
    : null
  const card = createOwnCard({ name, connection, preview: preview?.element, onAct: () => preview?.noteAct() })
  const watchForm = createWatchForm(dev, (userId) => {
    street.build(userId)
    connection.watch([userId])
  })

  const isGone = () => connection.laptop() === 'closed' || connection.laptop() === 'left'

  /** Stale while this window is not connected. */
  function personOf(userId: string): Presence | null {
    const person = userId === name ? me : (known.get(userId) ?? null)
    return person && (isGone() || link !== 'live') ? asStale(person) : person
  }

  function count(): void {
    const here = [...known.values()].filter(({ status }) => status !== 'offline' && status !== null).length
    const isHere = link === 'live' && me !== null && me.availability !== 'invisible'
    hero.count(here + (isHere ? 1 : 0), known.size + 1)
  }

  function onPerson(person: Person): void {
    // Compared with what was shown: after reopening the laptop the new connection knows no previous presence.
    const sentence = changeWords(person, known.get(person.user_id), now())
    known.set(person.user_id, person)
    street.show(person, now())
    if (sentence !== null && !isStale(person)) events.add(sentence, now(), !isSimulated(person.user_id))
    count()
  }

  function onMe(next: OwnPresence): void {
    me = next
    review()
  }

  function onLink(state: DotState): void {
    link = state
    review()
  }

  function onError(failure: DotFailure): void {
    if (REFUSED.has(failure.code) && parts.onRefused) parts.onRefused(failure)
    // A lost connection is shown by the notice.
    else if (failure.code !== 'unavailable') card.showError(failure.message)
  }

  /** Updates everything that depends on the connection. */
  function review(): void {
    const laptop = connection.laptop()
    const state = laptop === 'closed' || laptop === 'left' ? laptop : link
    parts.onLink(state)
    setText(notice, NOTICES[state] ?? '')
    if (isGone()) for (const person of known.values()) street.show(asStale(person), now())
    if (me && isGone()) street.showMe({ ...me, devices: [] }, 'offline', now())
    else if (me) street.showMe(link === 'live' ? me : asStale(me), ownLookOf(me), now())
    card.show(me, laptop, link === 'live')
    preview?.showMe(me, laptop, link === 'live')
    count()
  }

  street.build(name)
  for (const id of watched) street.build(id)
  connection.watch(watched.filter((id) => id !== name))
  card.show(null, 'in_use', false)
  const neighbours: Neighbours | null = dev?.hasNeighbours ? startNeighbours(name) : null
  const timer = everyWhileVisible(REFRESH_EVERY_MS, () => {
    street.refresh(now())
    card.refresh()
    preview?.refresh()
  })

  const element = h(
    'div',
    { class: 'demo' },
    hero.element,
    notice,
    h(
      'div',
      { class: 'outside' },
      h('div', { class: 'scene' }, h('div', { class: 'sky' }, street.element), watchForm),
      events.element,
    ),
    card.element,
    dialog.element,
  )
  return {
    element,
    async stop() {
      timer.stop()
      neighbours?.stop()
      preview?.stop()
      await connection.end()
    },
  }
}

/** The last known presence. */
const asStale = <One extends Presence>(person: One): One & { stale: true } => ({ ...person, stale: true })
