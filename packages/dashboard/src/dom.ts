// Creates elements. Data from the server is inserted only here, as text or as the value of an attribute, never
// as markup or as a style attribute, which the content security policy forbids.

type Listener<Name extends keyof HTMLElementEventMap> = (event: HTMLElementEventMap[Name]) => void
type Listeners = { [Name in keyof HTMLElementEventMap as `on${Name}`]?: Listener<Name> }
type Attributes = { [name: string]: unknown } & Listeners
export type Child = Node | string | null | undefined | false

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  return fill(document.createElement(tag), attributes, children)
}

export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

function fill<One extends Element>(element: One, attributes: Attributes, children: Child[]): One {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener)
    else setAttribute(element, name, value)
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

/** Removes it if false or undefined; empty if true. */
export function setAttribute(element: Element, name: string, value: unknown): void {
  if (value === false || value === undefined || value === null) element.removeAttribute(name)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** Does not touch unchanged text, which would disturb screen readers and selections. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Throws if it is missing, which is a bug of the page. */
export function byId<One extends HTMLElement = HTMLElement>(id: string): One {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`no #${id}`)
  return found as One
}
