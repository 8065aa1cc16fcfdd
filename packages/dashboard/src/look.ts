// The look of a user (the status, or invisible for oneself) and its dot. Every look has its own shape besides
// its colour: disc, crescent, disc with a bar, ring, and dashes for invisible.
import type { OwnPresence, Person, Presence, Status } from '@greendot/client'
import { s, setAttribute } from './dom.ts'

/** Only the user's own view can be invisible. */
export type Look = Status | 'invisible'

/** With `hidden_as: null` a hidden status is null; it is shown as offline. */
export const lookOf = ({ status }: Pick<Presence, 'status'>): Look => status ?? 'offline'

export const ownLookOf = (me: OwnPresence): Look =>
  me.availability === 'invisible' ? 'invisible' : lookOf(me)

/** For own and other views: only the own view has an availability. */
export const shownLookOf = (person: Presence | OwnPresence): Look =>
  'availability' in person ? ownLookOf(person) : lookOf(person)

export const isStale = (person: Presence | Person): boolean => 'stale' in person && person.stale

const DISC = 'M8 0a8 8 0 1 1 0 16A8 8 0 1 1 8 0Z'
const SHAPES: Record<Look, string> = {
  online: DISC,
  away: 'M6.2 .2A8 8 0 1 0 15.8 9.8A7.2 7.2 0 0 1 6.2 .2Z',
  busy: `${DISC}M4.75 6.5a1.5 1.5 0 0 0 0 3h6.5a1.5 1.5 0 0 0 0-3Z`,
  offline: `${DISC}M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z`,
  invisible: '',
}

export interface DotMark {
  element: SVGSVGElement
  show(look: Look): void
}

/** Always beside a text with the same meaning, so it is hidden from screen readers. */
export function createDotMark(look: Look = 'offline'): DotMark {
  const path = s('path', { 'fill-rule': 'evenodd' })
  const dashes = s('circle', { cx: 8, cy: 8, r: 6.6 })
  const element = s('svg', { class: 'dot', viewBox: '0 0 16 16', 'aria-hidden': 'true' }, path, dashes)
  const show = (next: Look) => {
    setAttribute(path, 'd', SHAPES[next])
    element.dataset.look = next
  }
  show(look)
  return { element, show }
}
