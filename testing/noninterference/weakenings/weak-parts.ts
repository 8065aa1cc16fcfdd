// The wrapper that most weakenings are made with: a bus that hands on other messages than it was given.
import type { Bus, BusMessage } from '../../../packages/server/src/bus/port.ts'

/** Each message is replaced by these. */
export function editMessages(bus: Bus, edit: (message: BusMessage) => BusMessage[]): Bus {
  return { ...bus, publish: (gatewayId, messages) => bus.publish(gatewayId, messages.flatMap(edit)) }
}
