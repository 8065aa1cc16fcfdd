// The plain way from a dot to a hub: the hub is right here, for this dot alone.
import type { Hub } from './hub.ts'
import type { OpenUplink } from './messages.ts'

export function soloUplink(newHub: () => Hub): OpenUplink {
  return (on) => {
    const hub = newHub()
    const seat = hub.seat(on.down)
    let isOpen = true
    // Whoever opens it has not even got it yet.
    queueMicrotask(() => isOpen && on.attached())
    return {
      send: seat.receive,
      close() {
        isOpen = false
        hub.close()
      },
    }
  }
}
