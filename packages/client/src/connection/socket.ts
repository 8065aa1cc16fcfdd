// A connection by WebSocket. Browsers do not let a page see why one could not be opened, so all of that is
// `lost`; what the server itself has to say comes as a close code.
import type { Address, Dial, Ending } from './transport.ts'

/** Ends one that was still opening, too: browsers take only 1000 and the numbers from 3000 on. */
const GOING = 3000

/** By close code; see `CLOSE` of the protocol, of which these four matter here. */
export const ENDINGS: Record<number, Ending> = {
  1000: 'left',
  4401: 'refused',
  4408: 'silent',
  4429: 'too_often',
}

export function socketDial(Socket: typeof WebSocket, { url, deviceId, platform }: Address): Dial {
  return ({ token, activity }, on) => {
    const query = new URLSearchParams({ token, device_id: deviceId, platform, activity })
    const socket = new Socket(`${url.replace(/^http/, 'ws')}/api/v1/ws?${query}`)

    function silence(): void {
      socket.onmessage = socket.onclose = null
    }

    socket.onmessage = ({ data }) => on.frame(JSON.parse(data))
    socket.onclose = ({ code }) => {
      silence()
      on.closed(ENDINGS[code] ?? 'lost')
    }
    // A socket that fails without anybody listening is an uncaught error in some runtimes.
    socket.onerror = () => {}
    return {
      send(frame) {
        // What is sent while it closes is lost, as on the wire.
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame))
      },
      close() {
        silence()
        socket.close(GOING)
      },
    }
  }
}
