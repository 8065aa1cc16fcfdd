// Bus inside one process. A message arrives after the turn of the publisher and before any I/O, in the order
// of publishing. The publisher never runs code of a subscriber. No message is lost, so there are no gaps.
import type { Bus, BusMessage } from './port.ts'

type Receive = (messages: readonly BusMessage[]) => void

export interface MemoryBusOptions {
  /** Gets what a subscriber threw. Without it the error is uncaught. */
  onError?: (error: unknown) => void
}

export function createMemoryBus(options: MemoryBusOptions = {}): Bus {
  const onError = options.onError ?? rethrow
  const subscribers = new Map<string, Set<{ receive: Receive }>>()

  function deliver(gatewayId: string, messages: readonly BusMessage[]): void {
    for (const subscriber of subscribers.get(gatewayId) ?? []) {
      try {
        subscriber.receive(messages)
      } catch (error) {
        onError(error)
      }
    }
  }

  return {
    async publish(gatewayId, messages) {
      if (messages.length === 0 || !subscribers.has(gatewayId)) return true
      // A copy, because publishers reuse their buffers and delivery comes later.
      const sent = messages.slice()
      queueMicrotask(() => deliver(gatewayId, sent))
      return true
    },
    async subscribe(gatewayId, receive) {
      const subscriber = { receive }
      const listening = subscribers.get(gatewayId) ?? new Set()
      subscribers.set(gatewayId, listening.add(subscriber))
      return () => {
        listening.delete(subscriber)
        if (listening.size === 0 && subscribers.get(gatewayId) === listening) subscribers.delete(gatewayId)
      }
    },
    async close() {
      subscribers.clear()
    },
  }
}

function rethrow(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
