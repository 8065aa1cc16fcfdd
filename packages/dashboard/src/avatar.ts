// Faces drawn from a name, always the same for the same name. The eyes are drawn open and shut, and the styles
// choose by the status.

import { s } from './dom.ts'
import { traitsOf } from './traits.ts'

const SKINS = ['#f3d0b0', '#e8b98f', '#c98d5f', '#9c6440', '#6f4529', '#f6dcc6']
const HAIRS = ['#2b2320', '#5a3b26', '#8a5a2b', '#c9963f', '#7c7f86', '#a34a2a']
const SHIRTS = ['#2f7d6b', '#3f6fb5', '#8b5fbf', '#c2575b', '#c98a2b', '#4b5a78', '#5b8f3a', '#b5487f']
const GROUNDS = ['#cfe8dc', '#cfe0f5', '#e2d8f3', '#f6d9d9', '#f7e5c6', '#d7dde8', '#dcebcf', '#f3d5e4']

/** Around a head of radius 10 at 24, 22. */
const HAIR_SHAPES = [
  'M13.6 21C13 13 18 9.6 24 9.6S35 13 34.4 21C32 18 29 15.6 24 15.6S16 18 13.6 21Z',
  'M12.6 30C11 16 16 9 24 9S37 16 35.4 30H32V20C28 20 20 18 18 15C17.5 18 16.5 19.5 16 20V30Z',
  'M14 20C13 12 18 9 25 9.4C31 9.4 35 13 34 20C32.5 16.5 31 15 27 15.5C22 16.2 17 15 14 20Z',
  'M13 24C11 11 20 8 24 8S37 11 35 24C35.6 30 33.4 34 33.4 34H30V19C26 20 20 19 18 16V34H14.6S12.4 30 13 24Z',
  'M14.2 19C14 12.5 18.5 10.4 24 10.4S34 12.5 33.8 19C31.5 15 16.5 15 14.2 19Z',
  'M13 19A3.4 3.4 0 0 1 15 13A4 4 0 0 1 20.5 9.6A4.4 4.4 0 0 1 28 9.6A4 4 0 0 1 33 13A3.4 3.4 0 0 1 35 19C32 16.6 28 15.4 24 15.4S16 16.6 13 19Z',
]

/** Without a frame, for avatars and for the windows of houses. */
export function face(name: string): SVGElement[] {
  const pick = traitsOf(name)
  const skin = SKINS[pick(SKINS.length)]!
  const hair = HAIRS[pick(HAIRS.length)]!
  const shirt = SHIRTS[pick(SHIRTS.length)]!
  const shape = HAIR_SHAPES[pick(HAIR_SHAPES.length)]!
  const hasGlasses = pick(4) === 0
  const ink = '#2a2522'
  return [
    s('path', { d: 'M8 48C8 38.5 15 35 24 35S40 38.5 40 48Z', fill: shirt }),
    s('path', { d: 'M20 30H28V36.5A4 3 0 0 1 20 36.5Z', fill: skin }),
    s('circle', { cx: 24, cy: 22, r: 10, fill: skin }),
    s('path', { d: shape, fill: hair }),
    s(
      'g',
      { class: 'eyes-open', fill: ink },
      s('circle', { cx: 20.3, cy: 22.6, r: 1.25 }),
      s('circle', { cx: 27.7, cy: 22.6, r: 1.25 }),
    ),
    s('path', {
      class: 'eyes-shut',
      d: 'M18.6 22.6Q20.3 24 22 22.6M26 22.6Q27.7 24 29.4 22.6',
      fill: 'none',
      stroke: ink,
      'stroke-width': 1,
    }),
    s('path', {
      d: 'M20.8 26.6Q24 29.4 27.2 26.6',
      fill: 'none',
      stroke: ink,
      'stroke-width': 1.1,
      'stroke-linecap': 'round',
    }),
    ...(hasGlasses
      ? [
          s('path', {
            d: 'M17 22.4a3.3 3.3 0 1 0 6.6 0a3.3 3.3 0 1 0-6.6 0M24.4 22.4a3.3 3.3 0 1 0 6.6 0a3.3 3.3 0 1 0-6.6 0M23.6 22h.8',
            fill: 'none',
            stroke: ink,
            'stroke-width': 0.8,
          }),
        ]
      : []),
  ]
}

export function avatar(name: string): SVGSVGElement {
  const pick = traitsOf(`${name}'s ground`)
  return s(
    'svg',
    { class: 'avatar', viewBox: '0 0 48 48', 'aria-hidden': 'true' },
    s('circle', { cx: 24, cy: 24, r: 24, fill: GROUNDS[pick(GROUNDS.length)]! }),
    s('g', { class: 'person' }, ...face(name)),
  )
}
