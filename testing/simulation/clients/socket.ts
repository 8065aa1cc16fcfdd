// A WebSocket of the simulation: the client's end, and the object that the gateway of a process holds. Frames keep their
// order in each direction. A cut network delivers nothing until it is mended; a crashed process is noticed when its
// machine resets the connection.
import type { Opening, Socket } from '../../../packages/server/src/gateway/sessions/session-table.ts'
import type { Network } from '../time/network.ts'
import type { Timeline } from '../time/timeline.ts'
import type { ServerProcess } from '../world/process.ts'

export interface ClientSocket {
  send(text: string): void
  /** Ends the connection without a goodbye. */
  terminate(): void
  /** The network of the client is gone: nothing is sent or received any more, and neither side notices. */
  fallSilent(): void
}

export interface ClientSocketOptions {
  network: Network
  timeline: Timeline
  process: ServerProcess
  opening: Opening
  /** The name of the device in the network. */
  device: string
  onText(text: string): void
  onClose(): void
}

export function openSocket(options: ClientSocketOptions): ClientSocket {
  const { network, timeline, process, opening, device } = options
  const { machine } = process
  let toServerAt = 0
  let toClientAt = 0
  let state: 'open' | 'silent' | 'closed' = 'open'
  let isHeld = false

  function toServer(run: () => void): void {
    toServerAt = Math.max(toServerAt, timeline.now() + network.latencyMs())
    timeline.at(toServerAt, () => network.whenOpen(device, process.name, () => machine.deliver(run)))
  }

  function toClient(run: () => void): void {
    toClientAt = Math.max(toClientAt, timeline.now() + network.latencyMs())
    timeline.at(toClientAt, () =>
      network.whenOpen(device, process.name, () => {
        if (state === 'open') run()
      }),
    )
  }

  function closed(): void {
    state = 'closed'
    options.onClose()
  }

  const sockets = () => process.pipeline()?.gateway?.sockets
  const held = {
    data: opening,
    isPaused: false,
    getBufferedAmount: () => 0,
    send(frame: string) {
      toClient(() => options.onText(frame))
      return frame.length
    },
    close() {
      if (!isHeld) return
      isHeld = false
      toClient(closed)
      timeline.at(timeline.now(), () => machine.deliver(() => sockets()?.close(socket)))
    },
  }
  const socket = held as unknown as Socket

  toServer(() => {
    if (!process.isServing() || sockets() === undefined) return toClient(closed)
    isHeld = true
    sockets()!.open(socket)
  })

  return {
    send(text) {
      if (state === 'open')
        toServer(() => {
          if (isHeld) sockets()!.message(socket, text)
        })
    },
    terminate() {
      if (state !== 'open') return
      state = 'closed'
      toServer(() => {
        if (!isHeld) return
        isHeld = false
        sockets()!.close(socket)
      })
    },
    fallSilent() {
      if (state === 'open') state = 'silent'
    },
  }
}
