// The plain way from a dot to a hub: the hub is right here, for this dot alone. And what every way needs: an
// answer when the hub asks for a token.
import type { Hub } from './hub.ts'
import type { OpenRawUplink, OpenUplink } from './ports.ts'

export function soloUplink(newHub: () => Hub): OpenRawUplink {
  return (on) => {
    const hub = newHub()
    const seat = hub.seat((message) => on.down(message))
    let isOpen = true
    // Whoever opens it has not even got it yet.
    queueMicrotask(() => isOpen && on.attached())
    return {
      send: (message) => seat.receive(message),
      close() {
        isOpen = false
        hub.close()
      },
    }
  }
}

export function answeringTokens(open: OpenRawUplink, token: () => Promise<string>): OpenUplink {
  return (on) => {
    const uplink = open({
      attached: on.attached,
      down: (message) => (message.type === 'token' ? void answer(message.ref) : on.down(message)),
    })

    async function answer(ref: number): Promise<void> {
      try {
        uplink.send({ type: 'token', ref, token: await token() })
      } catch (error) {
        uplink.send({
          type: 'no_token',
          ref,
          problem: error instanceof Error ? error.message : String(error),
        })
      }
    }

    return uplink
  }
}
