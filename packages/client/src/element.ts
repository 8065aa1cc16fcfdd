// <green-dot user="bob">: the presence of a user on any page, with or without a framework. A dot watches while
// it is in the document, through the connection it finds (element/connection.ts), and draws it (element/look.ts).
// Importing this module defines both elements; outside of pages it defines nothing.
import { requestDots } from './context/context.ts'
import { follow, personOf } from './dot/follow.ts'
import {
  connectPage,
  ElementBase,
  type Found,
  findDot,
  GreendotConnection,
  onConnections,
} from './element/connection.ts'
import { createLook, type Describe, type DotView, describeInEnglish, type Look } from './element/look.ts'
import { reportMissing } from './element/missing.ts'
import { sharedDot } from './element/shared.ts'
import type { ConnectOptions, Dot, Person } from './types.ts'

export { type Describe, type DotView, GreendotConnection }

/** An object that is no dot, made an attribute. */
const OBJECT_AS_TEXT = '[object Object]'

interface Followed {
  dot: Dot
  userId: string
  stop(): void
}

/**
 * - `user`: the user to show
 * - `label`: the name to show; the user id by default
 * - `show-label`: shows the words beside the dot, like "Bob: online"
 * - `url`, `token`, `token-url`: its own connection, as for `<greendot-connection>`. Dots with the same values
 *   share one
 *
 * Styled by `--greendot-size`, `--greendot-gap`, a colour for each status (`--greendot-online`, `-away`,
 * `-busy`, `-offline`, `-unknown`, `-stale`), and the parts `label` and `dot` (which also has its status and
 * `stale` as part names).
 */
export class GreenDot extends ElementBase {
  static observedAttributes = ['user', 'label', 'show-label', 'dot', 'url', 'token', 'token-url']
  static readonly #mounted = new Set<GreenDot>()
  static #describe: Describe = describeInEnglish

  /** The connection for all dots that have no `dot` property and no `<greendot-connection>` around them. */
  static connect(given: Dot | ConnectOptions): Dot {
    return connectPage(given)
  }

  /** Replaces the texts of all dots on the page, for example with another language. */
  static localize(describe: Describe): void {
    GreenDot.#describe = describe
    for (const one of GreenDot.#mounted) one.#draw()
  }

  static {
    onConnections(() => {
      for (const one of GreenDot.#mounted) one.#followAgain()
    })
  }

  #ownDot: Dot | null = null
  #followed: Followed | null = null
  #look: Look | null = null

  /** A connection for this dot alone. */
  get dot(): Dot | null {
    return this.#ownDot
  }
  set dot(dot: Dot | null) {
    this.#ownDot = dot
    this.#followAgain()
  }

  get user(): string {
    return this.getAttribute('user') ?? ''
  }
  set user(userId: string) {
    this.setAttribute('user', userId)
  }

  get label(): string {
    return this.getAttribute('label') ?? this.user
  }
  set label(label: string) {
    this.setAttribute('label', label)
  }

  get showLabel(): boolean {
    // React 18 writes `false` into the attribute.
    return (this.getAttribute('show-label') ?? 'false') !== 'false'
  }
  set showLabel(isShown: boolean) {
    this.toggleAttribute('show-label', isShown)
  }

  /** Undefined while nothing is known. */
  get person(): Person | undefined {
    return this.#followed ? personOf(this.#followed.dot, this.#followed.userId) : undefined
  }

  connectedCallback(): void {
    GreenDot.#mounted.add(this)
    this.#takeEarlyProperties()
    this.#look ??= createLook(this.shadowRoot ?? this.attachShadow({ mode: 'open' }))
    this.#followAgain()
    this.#draw()
  }

  disconnectedCallback(): void {
    // An element that is only moved, as in a sorted list, keeps watching.
    queueMicrotask(() => {
      if (this.isConnected) return
      GreenDot.#mounted.delete(this)
      this.#followAgain()
    })
  }

  attributeChangedCallback(): void {
    this.#followAgain()
    this.#draw()
  }

  /** A framework may set properties before the element is defined; these would shadow the accessors. */
  #takeEarlyProperties(): void {
    for (const name of ['dot', 'user', 'label', 'showLabel'] as const) {
      if (!Object.hasOwn(this, name)) continue
      const value = this[name]
      delete (this as Partial<GreenDot>)[name]
      Object.assign(this, { [name]: value })
    }
  }

  #followAgain(): void {
    const userId = this.user
    const isFollowing = GreenDot.#mounted.has(this) && userId !== ''
    const { dot } = this.#find(isFollowing)
    if (isFollowing && this.isConnected && !dot) reportMissing(() => this.#problem())
    if (dot === (this.#followed?.dot ?? null) && userId === (this.#followed?.userId ?? userId)) return
    this.#followed?.stop()
    this.#followed = dot && { dot, userId, stop: follow(dot, userId, () => this.#draw()) }
    this.#draw()
  }

  #find(isFollowing: boolean): Found {
    const shared = sharedDot(this, isFollowing && !this.#ownDot && !this.#dotName)
    if (!isFollowing) return { dot: null, why: 'none' }
    const name = this.#dotName
    const [named] = name ? requestDots(this, name) : []
    const own = this.#ownDot ?? named ?? shared
    if (own) return { dot: own }
    return name ? { dot: null, why: 'none' } : findDot(this)
  }

  /** Frameworks without properties, like React 18, make the name of a dot an attribute. */
  get #dotName(): string | null {
    const name = this.getAttribute('dot')
    return name === OBJECT_AS_TEXT ? null : name
  }

  #problem(): string | null {
    if (!this.isConnected || this.#followed || this.user === '') return null
    const found = this.#find(true)
    if (found.dot) return null
    const name = this.getAttribute('dot')
    const text = `<green-dot user="${this.user}"> has no connection.`
    if (name !== null) return `${text} Its dot attribute is not a dot of connect(): ${name}`
    if (found.why === 'several')
      return `${text} There are several providers on this page: use GreenDot of @greendot/client/react.`
    return `${text} Put it into <greendot-connection> or <GreendotProvider>, or give it url and token.`
  }

  #draw(): void {
    const person = this.person
    const view: DotView = {
      label: this.label,
      status: person?.status ?? 'unknown',
      isStale: person?.stale ?? false,
    }
    this.#look?.show(view, GreenDot.#describe(view), this.showLabel)
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'green-dot': GreenDot
    'greendot-connection': GreendotConnection
  }
}

// Connections first, so that a dot finds the one around it. A page may load this module twice, from two
// bundles; the first definition stays.
for (const [name, element] of [
  ['greendot-connection', GreendotConnection],
  ['green-dot', GreenDot],
] as const) {
  const registry = globalThis.customElements
  if (registry && !registry.get(name)) registry.define(name, element)
}
