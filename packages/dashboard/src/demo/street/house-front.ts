// The drawing of a house, different for every name. The styles show the status by `data-look` on an element
// around it; nothing is redrawn when the status changes.
import { face } from '../../avatar.ts'
import { s } from '../../dom.ts'
import { traitsOf } from '../../traits.ts'

const PAINTS = 8
/** Gable, stepped gable, hip, bell: all stand on the wall from 20 to 140 at 66. */
const ROOFS = [
  'M12 66L80 18L148 66Z',
  'M18 66V54H34V42H50V30H66V20H94V30H110V42H126V54H142V66Z',
  'M10 66L40 28H120L150 66Z',
  'M16 66C34 64 38 52 44 40C52 24 66 20 80 20S108 24 116 40C122 52 126 64 144 66Z',
]

export function houseFront(name: string): SVGSVGElement {
  const pick = traitsOf(`${name}'s windows`)
  const paint = pick(PAINTS)
  const roof = ROOFS[pick(ROOFS.length)]!
  const isMirrored = pick(2) === 1
  const windowX = isMirrored ? 64 : 30
  const doorX = isMirrored ? 32 : 106
  const chimneyX = isMirrored ? 44 : 104
  return s(
    'svg',
    { class: `front paint-${paint}`, viewBox: '0 0 160 166', 'aria-hidden': 'true' },
    s(
      'g',
      { class: 'smoke' },
      ...[0, 1, 2].map((puff) =>
        s('circle', { cx: chimneyX + 6, cy: 16, r: 4 + puff, class: `puff-${puff}` }),
      ),
    ),
    s('rect', { class: 'chimney', x: chimneyX, y: 20, width: 13, height: 30, rx: 1.5 }),
    s('path', { class: 'roof', d: roof }),
    s('rect', { class: 'wall', x: 20, y: 65, width: 120, height: 101 }),
    s('rect', { class: 'shade', x: 20, y: 65, width: 120, height: 6 }),
    s('circle', { class: 'attic', cx: 80, cy: 50, r: 7.5 }),
    lamplight(windowX),
    casement(name, windowX),
    entrance(doorX),
  )
}

/** The light of a window on the wall. */
const lamplight = (x: number) => s('ellipse', { class: 'lamplight', cx: x + 33, cy: 108, rx: 52, ry: 42 })

function casement(name: string, x: number): SVGGElement {
  return s(
    'g',
    {},
    s('rect', { class: 'frame', x: x - 4, y: 78, width: 74, height: 62, rx: 5 }),
    s('rect', { class: 'glass', x, y: 82, width: 66, height: 54, rx: 3 }),
    s(
      'svg',
      { class: 'person', x: x + 4, y: 80, width: 58, height: 56, viewBox: '0 2 48 46' },
      ...face(name),
    ),
    s('path', { class: 'curtain', d: `M${x} 82H${x + 25}C${x + 24} 104 ${x + 12} 122 ${x} 136Z` }),
    s('path', { class: 'curtain', d: `M${x + 66} 82H${x + 41}C${x + 42} 104 ${x + 54} 122 ${x + 66} 136Z` }),
    s('rect', { class: 'sill', x: x - 7, y: 138, width: 80, height: 6, rx: 2.5 }),
  )
}

function entrance(x: number): SVGGElement {
  return s(
    'g',
    {},
    s('path', { class: 'door', d: `M${x} 166V112a11 11 0 0 1 22 0V166Z` }),
    s('path', { class: 'fanlight', d: `M${x + 4} 116V112a7 7 0 0 1 14 0V116Z` }),
    s('circle', { class: 'knob', cx: x + 17.5, cy: 140, r: 1.6 }),
    s(
      'g',
      { class: 'do-not-disturb' },
      s('circle', { cx: x + 11, cy: 128, r: 7 }),
      s('rect', { x: x + 6.6, y: 126.6, width: 8.8, height: 2.8, rx: 1.4 }),
    ),
  )
}
