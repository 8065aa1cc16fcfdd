// One person in this window, with everything around them: the street, their card, how they look to others,
// and what happens. Ends as a whole when somebody else is to be, with a goodbye.
import type { DotFailure, DotState, OwnPresence, Person, Presence } from '@greendot/client'
import { everyWhileVisible, now } from '../clock.ts'
import { h, setText } from '../dom.ts'
import { isStale, ownLookOf } from '../look.ts'
import { changeWords } from '../words.ts'
import type { DevParts } from './dev-parts.ts'
import { createStory } from './event-list.ts'
import { createHero } from './hero.ts'
import { createYou } from './own-card.ts'
import { createSelf, type Laptop } from './own-connection.ts'
import { GUESTS, isNeighbour, NEIGHBOURS } from './sample-users.ts'
import { type Neighbours, startNeighbours } from './simulated-users.ts'
import { createStreet } from './street.ts'
import { createVisit } from './user-dialog.ts'
import { createMirror } from './viewer-preview.ts'
import { createAddress } from './watch-form.ts'

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
}

export interface Party {
  element: HTMLElement
  stop(): Promise<void>
}

export interface PartyParts {
  name: string
  token: string
  deviceId: string
  watched: readonly string[]
  /** Null where nobody can be anybody. */
  dev: DevParts | null
  onLink(state: DotState | Laptop): void
  /** The token was refused. */
  onRefused?(failure: DotFailure): void
}

export function createParty(parts: PartyParts): Party {
  const { name, token, deviceId, watched, dev } = parts
  const known = new Map<string, Person>()
  const isSimulated = (userId: string) => dev?.hasNeighbours === true && isNeighbour(userId)
  let link: DotState = 'connecting'
  let me: OwnPresence | null = null

  const street = createStreet({
    myId: name,
    isSimulated,
    onVisit: (userId) => visit.open(userId, personOf(userId), now()),
  })
  const visit = createVisit({ myId: name, isDev: dev !== null })
  const story = createStory()
  const hero = createHero(name, dev)
  const notice = h('p', { class: 'notice', role: 'status' })
  const self = createSelf({
    token,
    deviceId,
    on: { me: onMe, person: onPerson, link: onLink, laptop: review, trouble: onTrouble },
  })
  const mirror = dev
    ? createMirror({
        name,
        viewers: [...GUESTS, ...NEIGHBOURS].filter((id) => id !== name),
      })
    : null
  const you = createYou({ name, self, mirror: mirror?.element, onAct: () => mirror?.noteAct() })
  const address = createAddress(dev, (userId) => {
    street.build(userId)
    self.watch([userId])
  })

  const isGone = () => self.laptop() === 'closed' || self.laptop() === 'left'

  /** As they may be shown now. */
  function personOf(userId: string): Presence | null {
    const person = userId === name ? me : (known.get(userId) ?? null)
    return person && (isGone() || link !== 'live') ? doubted(person) : person
  }

  function count(): void {
    const here = [...known.values()].filter(({ status }) => status !== 'offline' && status !== null).length
    const isHere = link === 'live' && me !== null && me.availability !== 'invisible'
    hero.count(here + (isHere ? 1 : 0), known.size + 1)
  }

  function onPerson(person: Person): void {
    // Compared with what was shown, not with what the connection knew: a lid may have been closed meanwhile.
    const sentence = changeWords(person, known.get(person.user_id), now())
    known.set(person.user_id, person)
    street.show(person, now())
    if (sentence !== null && !isStale(person)) story.tell(sentence, now(), !isSimulated(person.user_id))
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

  function onTrouble(failure: DotFailure): void {
    if (REFUSED.has(failure.code) && parts.onRefused) parts.onRefused(failure)
    // That there is no server at the moment is said elsewhere.
    else if (failure.code !== 'unavailable') you.tellTrouble(failure.message)
  }

  /** Everything that follows from where we are now. */
  function review(): void {
    const laptop = self.laptop()
    const state = laptop === 'closed' || laptop === 'left' ? laptop : link
    parts.onLink(state)
    setText(notice, NOTICES[state] ?? '')
    if (isGone()) for (const person of known.values()) street.show(doubted(person), now())
    if (me && isGone()) street.showMe({ ...me, devices: [] }, 'offline', now())
    else if (me) street.showMe(link === 'live' ? me : doubted(me), ownLookOf(me), now())
    you.show(me, laptop, link === 'live')
    mirror?.showMe(me, laptop, link === 'live')
    count()
  }

  street.build(name)
  for (const id of watched) street.build(id)
  self.watch(watched.filter((id) => id !== name))
  you.show(null, 'in_use', false)
  const neighbours: Neighbours | null = dev?.hasNeighbours ? startNeighbours(name) : null
  const timer = everyWhileVisible(REFRESH_EVERY_MS, () => {
    street.refresh(now())
    you.refresh()
    mirror?.refresh()
  })

  const element = h(
    'div',
    { class: 'demo' },
    hero.element,
    notice,
    h(
      'div',
      { class: 'outside' },
      h('div', { class: 'scene' }, h('div', { class: 'sky' }, street.element), address),
      story.element,
    ),
    you.element,
    visit.element,
  )
  return {
    element,
    async stop() {
      timer.stop()
      neighbours?.stop()
      mirror?.stop()
      await self.end()
    },
  }
}

/** Whoever is not connected knows only how it was. */
const doubted = <One extends Presence>(person: One): One & { stale: true } => ({ ...person, stale: true })
