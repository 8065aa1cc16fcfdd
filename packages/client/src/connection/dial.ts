// The ways to reach the server from this runtime. The link chooses among them.
import type { Runtime } from '../platform.ts'
import { socketDial } from './socket.ts'
import type { Address, Dial, Transport } from './transport.ts'

export type TransportChoice = 'auto' | 'websocket' | 'http' | undefined

export interface Dials {
  dialSocket: Dial | undefined
  dialHttp: Dial | undefined
}

export function dialsOf(runtime: Runtime, address: Address, choice: TransportChoice): Dials {
  const { WebSocket } = runtime
  if (!WebSocket && choice === 'websocket') throw new Error('no WebSocket in this runtime; pass one')
  return {
    dialSocket: WebSocket && choice !== 'http' ? socketDial(WebSocket, address) : undefined,
    dialHttp: choice === 'websocket' ? undefined : lazyHttpDial(runtime, address),
  }
}

/** Most clients never need HTTP, so its module is loaded on first use. */
function lazyHttpDial(runtime: Runtime, address: Address): Dial {
  return (ticket, on) => {
    let transport: Transport | null = null
    let isOpen = true
    import('./fallback.ts').then(
      ({ httpDial }) => {
        if (isOpen) transport = httpDial(runtime, address)(ticket, on)
      },
      () => isOpen && on.closed('lost'),
    )
    return {
      send: (frame) => transport?.send(frame),
      close() {
        isOpen = false
        transport?.close()
      },
    }
  }
}
