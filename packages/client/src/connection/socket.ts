// A connection by WebSocket. Browsers hide why a socket could not be opened, so that is always `lost`; what
// the server decides comes as a close code. Presence comes in the compact encoding from servers that have it.
import {
  type ClientFrame,
  decodeServerFrame,
  SUBPROTOCOL_COMPACT,
  SUBPROTOCOL_JSON,
} from '@greendot/protocol'
import type { Address, CloseReason, Dial } from './transport.ts'

/** Browsers allow only 1000 and codes from 3000 on. */
const CLOSE_BY_CLIENT = 3000

/** The close codes of the protocol (`CLOSE`) that the link treats differently. */
export const CLOSE_REASONS: Record<number, CloseReason> = {
  1000: 'left',
  4401: 'refused',
  4403: 'disconnected',
  4408: 'silent',
  4429: 'too_often',
}

/** JSON first: a server that knows neither agrees to the first. */
const SUBPROTOCOLS = [SUBPROTOCOL_JSON, SUBPROTOCOL_COMPACT]

/** A compact heartbeat is the first letter of its activity. */
const textOf = (frame: ClientFrame, subprotocol: string): string =>
  subprotocol === SUBPROTOCOL_COMPACT && frame.type === 'heartbeat' && frame.ref === undefined
    ? frame.activity[0]!
    : JSON.stringify(frame)

export function socketDial(Socket: typeof WebSocket, { url, deviceId, platform }: Address): Dial {
  return ({ token, activity }, on) => {
    const query = new URLSearchParams({ token, device_id: deviceId, platform, activity })
    const socket = new Socket(`${url.replace(/^http/, 'ws')}/api/v1/ws?${query}`, SUBPROTOCOLS)

    function silence(): void {
      socket.onmessage = socket.onclose = null
    }

    socket.onmessage = ({ data }) => on.frame(decodeServerFrame(data))
    socket.onclose = ({ code }) => {
      silence()
      on.closed(CLOSE_REASONS[code] ?? 'lost')
    }
    // In some runtimes a socket error without a listener is an uncaught error.
    socket.onerror = () => {}
    return {
      send(frame) {
        // Frames sent while the socket closes are dropped.
        if (socket.readyState === socket.OPEN) socket.send(textOf(frame, socket.protocol))
      },
      close() {
        silence()
        socket.close(CLOSE_BY_CLIENT)
      },
    }
  }
}
