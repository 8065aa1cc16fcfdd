// An uplink to a hub in the same program, for one dot alone.
import type { Hub } from './hub.ts'
import type { OpenUplink } from './messages.ts'

export function soloUplink(newHub: () => Hub): OpenUplink {
  return (on) => {
    const hub = newHub()
    const tab = hub.addTab(on.down)
    let isOpen = true
    // Later, because the caller does not have the uplink yet.
    queueMicrotask(() => isOpen && on.attached())
    return {
      send: tab.receive,
      close() {
        isOpen = false
        hub.close()
      },
    }
  }
}
