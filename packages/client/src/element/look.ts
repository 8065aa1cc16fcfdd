// Draws a <green-dot>. Every status has its own shape besides its colour: disc, crescent, disc with a bar,
// ring; dashes for unknown. Nothing here is parsed as markup or written into a style attribute, so that it
// works under the strictest content security policy.
import type { Status } from '../types.ts'

export interface DotView {
  /** The name of the user. */
  label: string
  status: Status | 'unknown'
  /** No connection: this is the last known status. */
  isStale: boolean
}

/** The text of a dot, for screen readers and for `show-label`. */
export type Describe = (view: DotView) => string

export const describeInEnglish: Describe = ({ label, status, isStale }) => {
  const words = isStale && status !== 'unknown' ? `was ${status}` : status
  return label === '' ? words : `${label}: ${words}`
}

const SVG = 'http://www.w3.org/2000/svg'
const DISC = 'M8 0a8 8 0 1 1 0 16A8 8 0 1 1 8 0Z'
const SHAPES: Record<DotView['status'], string> = {
  online: DISC,
  away: 'M6.2 .2A8 8 0 1 0 15.8 9.8A7.2 7.2 0 0 1 6.2 .2Z',
  busy: `${DISC}M4.75 6.5a1.5 1.5 0 0 0 0 3h6.5a1.5 1.5 0 0 0 0-3Z`,
  offline: `${DISC}M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z`,
  unknown: '',
}

const STYLE = `
:host { display: inline-flex; align-items: baseline; gap: var(--greendot-gap, .4em); }
:host([hidden]), [hidden] { display: none; }
svg { flex: none; width: var(--greendot-size, .75em); height: var(--greendot-size, .75em); overflow: visible; border-radius: 50%; }
path { fill: currentColor; fill-rule: evenodd; transform-origin: 8px 8px; }
circle { display: none; fill: none; stroke: currentColor; stroke-width: 2px; stroke-dasharray: 3.3px 2.2px; }
.online { color: var(--greendot-online, light-dark(#138f49, #35d67c)); }
.away { color: var(--greendot-away, light-dark(#b9770a, #f0b544)); }
.busy { color: var(--greendot-busy, light-dark(#d02f3d, #ff6b74)); }
.offline { color: var(--greendot-offline, light-dark(#6f7d74, #8b9a91)); }
.unknown { color: var(--greendot-unknown, light-dark(#6f7d74, #8b9a91)); }
.stale { color: var(--greendot-stale, light-dark(#6f7d74, #8b9a91)); }
.stale path { transform: scale(.5); }
.stale circle, .unknown circle { display: inline; }
@media (forced-colors: active) { svg[class] { color: inherit; } }
@media (prefers-reduced-motion: no-preference) { .arrived { animation: arrive .9s ease-out; } }
@keyframes arrive { from { box-shadow: 0 0 0 0 currentColor; } to { box-shadow: 0 0 0 .6em transparent; } }
`

let sheet: CSSStyleSheet | null = null

/** One style sheet for all dots of a page. */
function sharedSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
  }
  return sheet
}

export interface Look {
  show(view: DotView, text: string, isTextShown: boolean): void
}

export function createLook(root: ShadowRoot): Look {
  root.adoptedStyleSheets = [sharedSheet()]
  const svg = document.createElementNS(SVG, 'svg')
  const path = document.createElementNS(SVG, 'path')
  const circle = document.createElementNS(SVG, 'circle')
  const words = document.createElement('span')
  svg.setAttribute('viewBox', '0 0 16 16')
  for (const [name, value] of Object.entries({ cx: '8', cy: '8', r: '7' })) circle.setAttribute(name, value)
  words.setAttribute('part', 'label')
  svg.append(path, circle)
  root.append(svg, words)
  let shown: DotView | null = null

  return {
    show(view, text, isTextShown) {
      const states = view.isStale && view.status !== 'unknown' ? `${view.status} stale` : view.status
      path.setAttribute('d', SHAPES[view.status])
      svg.setAttribute('part', `dot ${states}`)
      svg.setAttribute('class', hasArrived(shown, view) ? `${states} arrived` : states)
      // Screen readers read the text if it is visible, otherwise the label of the picture.
      words.hidden = !isTextShown
      words.textContent = isTextShown ? text : ''
      if (isTextShown) {
        svg.setAttribute('aria-hidden', 'true')
        svg.removeAttribute('role')
        svg.removeAttribute('aria-label')
      } else {
        svg.removeAttribute('aria-hidden')
        svg.setAttribute('role', 'img')
        svg.setAttribute('aria-label', text)
      }
      shown = view
    },
  }
}

/** Animates the change from offline to online, but not the first rendering. */
const hasArrived = (before: DotView | null, view: DotView): boolean =>
  view.status === 'online' && !view.isStale && before?.status === 'offline' && !before.isStale
