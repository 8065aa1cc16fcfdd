// Finds the connection of a dot: the nearest <greendot-connection> around it, across shadow roots, or else the
// connection of the page. When one opens or closes, all dots look again; a page has few connections.
import { connect } from '../index.ts'
import type { ConnectOptions, Dot } from '../types.ts'

/** There is no HTMLElement on servers, and importing must work there. */
export const ElementBase = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

const listeners = new Set<() => void>()

export const onConnections = (listener: () => void): void => void listeners.add(listener)

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

export function findDot(start: Node): Dot | null {
  for (let node: Node | null = start; node; node = node.parentNode ?? (node as ShadowRoot).host ?? null) {
    if (node instanceof GreendotConnection) return node.dot
  }
  return page?.dot ?? null
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
    const url = new URL(this.getAttribute('url') ?? '/', document.baseURI)
    this.#dot = connect({ url, token: () => this.#token() })
    // Markup has no error listener.
    this.#dot.on('error', ({ code, message }) => console.warn(`greendot: ${message} (${code})`))
    notifyAll()
  }

  #close(): void {
    this.#dot?.close()
    this.#dot = null
    notifyAll()
  }

  async #token(): Promise<string> {
    const address = this.getAttribute('token-url')
    if (address === null) return this.getAttribute('token') ?? ''
    const answer = await fetch(new URL(address, document.baseURI), { credentials: 'same-origin' })
    if (!answer.ok) throw new Error(`${address} answered ${answer.status} instead of a token`)
    return (await answer.text()).trim()
  }
}
