// A chat server as it may exist already, with plain `ws`: clients connect as `ws://…/?user=alice&device=laptop`, and what
// one says all others hear. It adopts Greendot with the four lines that name `presence`. Its clients stay as they are.
import { WebSocketServer } from 'ws'
import { startPresence } from './presence.mjs'

const { PORT = '4403', GATEWAY_ID = 'chat-1', GREENDOT_SERVER_KEY = 'dev' } = process.env
const { GREENDOT_URL = 'http://127.0.0.1:4400', REPORT_EVERY_MS = '5000' } = process.env
/** A client without a message for so long counts as idle. */
const IDLE_AFTER_MS = 60_000
const PING_EVERY_MS = 10_000

const presence = startPresence({
  url: GREENDOT_URL,
  serverKey: GREENDOT_SERVER_KEY,
  gatewayId: GATEWAY_ID,
  reportEveryMs: Number(REPORT_EVERY_MS),
  idleAfterMs: IDLE_AFTER_MS,
})

const server = new WebSocketServer({ host: '127.0.0.1', port: Number(PORT) })

server.on('connection', (socket, request) => {
  const query = new URL(request.url, 'http://localhost').searchParams
  const session = { user_id: query.get('user') ?? 'guest', device_id: query.get('device') ?? 'browser' }
  // The backend disconnected the user: Greendot refuses the session until it is closed here too.
  const said = presence.open(session, (reason) => socket.close(4403, reason))
  let isAlive = true
  const pings = setInterval(() => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, PING_EVERY_MS)
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('message', (data) => {
    said.active()
    for (const other of server.clients)
      if (other !== socket && other.readyState === other.OPEN) other.send(`${session.user_id}: ${data}`)
  })
  socket.on('close', () => {
    clearInterval(pings)
    said.close()
  })
})

server.on('listening', () => console.log(`chat ready ws://127.0.0.1:${server.address().port}`))
