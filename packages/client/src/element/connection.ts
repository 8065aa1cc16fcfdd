// Where the dots of a page get their connection: from the nearest <greendot-connection> around them, across
// shadow roots, or else from the one the page has named. Whenever one of these opens or ends, all dots look
// again; how many connections there are on a page is a small number, and mostly one.
import { connect } from '../index.ts'
import type { ConnectOptions, Dot } from '../types.ts'

/** Servers have no elements; importing must work there all the same. */
export const ElementBase = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)

const listeners = new Set<() => void>()

export const onConnections = (listener: () => void): void => void listeners.add(listener)

function tellAll(): void {
  for (const listener of listeners) listener()
}

/** The connection of the page, and whether it is ours to close. */
let page: { dot: Dot; isOurs: boolean } | null = null

/** For all dots that have no connection around them. Replaces the one before. */
export function connectPage(given: Dot | ConnectOptions): Dot {
  if (page?.isOurs) page.dot.close()
  page = 'watch' in given ? { dot: given, isOurs: false } : { dot: connect(given), isOurs: true }
  tellAll()
  return page.dot
}

export function findDot(start: Node): Dot | null {
  for (let node: Node | null = start; node; node = node.parentNode ?? (node as ShadowRoot).host ?? null) {
    if (node instanceof GreendotConnection) return node.dot
  }
  return page?.dot ?? null
}

/**
 * `<greendot-connection url="https://presence.example.org" token-url="/presence-token">` around whatever
 * has dots in it. Connected while it is in the document.
 *
 * - `url`: the server; without it, the one the page came from
 * - `token`: a user token, for as long as it lasts
 * - `token-url`: answers a GET, with the cookies of the page, with a token as text; asked for every connection
 */
export class GreendotConnection extends ElementBase {
  static observedAttributes = ['url']
  #dot: Dot | null = null

  /** Null while the element is not in a document. */
  get dot(): Dot | null {
    return this.#dot
  }

  connectedCallback(): void {
    if (!this.shadowRoot) {
      // It holds what it is around and is no box itself.
      const root = this.attachShadow({ mode: 'open' })
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(':host { display: contents; }')
      root.adoptedStyleSheets = [sheet]
      root.append(document.createElement('slot'))
    }
    if (!this.#dot) this.#open()
  }

  disconnectedCallback(): void {
    // One that is only moved stays connected.
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
    // Nobody else hears of it where a connection is nothing but markup.
    this.#dot.on('error', ({ code, message }) => console.warn(`greendot: ${message} (${code})`))
    tellAll()
  }

  #close(): void {
    this.#dot?.close()
    this.#dot = null
    tellAll()
  }

  async #token(): Promise<string> {
    const address = this.getAttribute('token-url')
    if (address === null) return this.getAttribute('token') ?? ''
    const answer = await fetch(new URL(address, document.baseURI), { credentials: 'same-origin' })
    if (!answer.ok) throw new Error(`${address} answered ${answer.status} instead of a token`)
    return (await answer.text()).trim()
  }
}
