// How an element finds a connection that another module holds: the community context protocol. An element
// sends `context-request` up the page, a provider answers it, and `context-provider` tells elements to ask
// again. The modules share only these events, so they may come from different bundles.
// Invariant: nothing here keeps state.
import type { Dot } from '../types.ts'

/** The name of a connection for every element on the page, like that of a React provider. */
export const ANY_DOT = 'greendot'

interface ContextEvent extends Event {
  context: unknown
}

interface ContextRequest extends ContextEvent {
  callback?(dot: Dot): void
}

/** Answers requests of this context anywhere on the page until the returned function is called. */
export function provide(context: string, dot: Dot): () => void {
  const page = document
  const answer = (event: Event) => {
    const request = event as ContextRequest
    // Not stopped: who asks hears of every provider, and can tell that there are several.
    if (request.context === context) request.callback?.(dot)
  }
  const announce = () => void page.dispatchEvent(contextEvent('context-provider', context))
  page.addEventListener('context-request', answer)
  announce()
  return () => {
    page.removeEventListener('context-request', answer)
    announce()
  }
}

/** Every connection that is provided to this element. */
export function requestDots(from: Element, context: string): Set<Dot> {
  const dots = new Set<Dot>()
  const callback = (dot: Dot) => void dots.add(dot)
  from.dispatchEvent(Object.assign(contextEvent('context-request', context), { callback }))
  return dots
}

export const onProviders = (listener: () => void): void =>
  globalThis.document?.addEventListener('context-provider', listener)

const contextEvent = (type: string, context: string): ContextEvent =>
  Object.assign(new Event(type, { bubbles: true, composed: true }), { context })
