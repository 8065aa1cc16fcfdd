// A connection by WebSocket. Browsers do not let a page see why one could not be opened, so all of that is
// `lost`; what the server itself has to say comes as a close code.
import { CLOSE } from '@greendot/protocol'
import type { Address, Dial, Ending } from './transport.ts'

/** Ends one that was still opening, too: browsers take only 1000 and the numbers from 3000 on. */
const GOING = 3000

const ENDINGS: Record<number, Ending> = {
  [CLOSE.left]: 'left',
  [CLOSE.badToken]: 'refused',
  [CLOSE.noHeartbeat]: 'silent',
  [CLOSE.tooManyFrames]: 'too_often',
}

export function socketDial(Socket: typeof WebSocket, { url, deviceId, platform }: Address): Dial {
  return ({ token, activity }, on) => {
    const query = new URLSearchParams({ token, device_id: deviceId, platform, activity })
    const socket = new Socket(`${url.replace(/^http/, 'ws')}/api/v1/ws?${query}`)

    function silence(): void {
      socket.onmessage = socket.onclose = null
      // A socket that fails without anybody listening is an uncaught error in some runtimes.
      socket.onerror = () => {}
    }

    socket.onmessage = ({ data }) => on.frame(JSON.parse(data))
    socket.onclose = ({ code }) => {
      silence()
      on.closed(ENDINGS[code] ?? 'lost')
    }
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
