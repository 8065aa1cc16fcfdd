// Finds the connection of a dot: the nearest <greendot-connection> around it, across shadow roots, or else the
// connection of the page, or else that of a provider (context/). When one opens or closes, all dots look again;
// a page has few connections.
import { ANY_DOT, onProviders, requestDots } from '../context/context.ts'
import { connect } from '../index.ts'
import type { ConnectOptions, Dot } from '../types.ts'

/** There is no HTMLElement on servers, and importing must work there. */
export const ElementBase = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

const listeners = new Set<() => void>()

export function onConnections(listener: () => void): void {
  listeners.add(listener)
  onProviders(listener)
}

function notifyAll(): void {
  for (const listener of listeners) listener()
}

/** The connection of the page, and whether this module closes it. */
let page: { dot: Dot; isOurs: boolean } | null = null

/** For all dots without a connection around them. Replaces the one before. */
export function connectPage(given: Dot | ConnectOptions): Dot {
  if (page?.isOurs) page.dot.close()
  page = 'watch' in given ? { dot: given, isOurs: false } : { dot: connect(given), isOurs: true }
  notifyAll()
  return page.dot
}

export type Found = { dot: Dot } | { dot: null; why: 'none' | 'several' }

export function findDot(start: Element): Found {
  const near = nearestConnection(start) ?? page
  if (near) return near.dot ? { dot: near.dot } : { dot: null, why: 'none' }
  const provided = requestDots(start, ANY_DOT)
  // Which provider is around this element only React knows, and the wrong one would show another viewer's view.
  if (provided.size > 1) return { dot: null, why: 'several' }
  for (const dot of provided) return { dot }
  return { dot: null, why: 'none' }
}

function nearestConnection(start: Node): GreendotConnection | null {
  for (let node: Node | null = start; node; node = node.parentNode ?? (node as ShadowRoot).host ?? null) {
    if (node instanceof GreendotConnection) return node
  }
  return null
}

/** Attributes that name a connection, null where they are absent. */
export interface Where {
  url: string | null
  token: string | null
  tokenUrl: string | null
}

export const whereOf = (element: Element): Where => ({
  url: element.getAttribute('url'),
  token: element.getAttribute('token'),
  tokenUrl: element.getAttribute('token-url'),
})

/** `where` is asked again for every token. */
export function openDot(where: () => Where): Dot {
  const url = new URL(where().url ?? '/', document.baseURI)
  const dot = connect({ url, token: () => tokenOf(where()) })
  // Markup has no error listener.
  dot.on('error', ({ code, message }) => console.warn(`greendot: ${message} (${code})`))
  return dot
}

async function tokenOf({ token, tokenUrl }: Where): Promise<string> {
  if (tokenUrl === null) return token ?? ''
  const answer = await fetch(new URL(tokenUrl, document.baseURI), { credentials: 'same-origin' })
  if (!answer.ok) throw new Error(`${tokenUrl} answered ${answer.status} instead of a token`)
  return (await answer.text()).trim()
}

/**
 * `<greendot-connection url="https://presence.example.org" token-url="/presence-token">` connects all dots
 * inside it, while it is in the document.
 *
 * - `url`: the server; the origin of the page by default
 * - `token`: a user token
 * - `token-url`: answers a GET, with the cookies of the page, with a token as text; called for every connection
 */
export class GreendotConnection extends ElementBase {
  static observedAttributes = ['url']
  #dot: Dot | null = null

  get dot(): Dot | null {
    return this.#dot
  }

  connectedCallback(): void {
    if (!this.shadowRoot) {
      // The element itself has no box.
      const root = this.attachShadow({ mode: 'open' })
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(':host { display: contents; }')
      root.adoptedStyleSheets = [sheet]
      root.append(document.createElement('slot'))
    }
    if (!this.#dot) this.#open()
  }

  disconnectedCallback(): void {
    // An element that is only moved stays connected.
    queueMicrotask(() => {
      if (!this.isConnected) this.#close()
    })
  }

  attributeChangedCallback(): void {
    if (!this.#dot) return
    this.#close()
    this.#open()
  }

  #open(): void {
    this.#dot = openDot(() => whereOf(this))
    notifyAll()
  }

  #close(): void {
    this.#dot?.close()
    this.#dot = null
    notifyAll()
  }
}
