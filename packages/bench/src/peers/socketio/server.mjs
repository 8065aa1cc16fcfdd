// A presence server on Socket.IO, as a developer who knows it would write it for one process: tokens are
// checked once in a middleware, watching a user is joining a room, a change is one broadcast to that
// room, and a user is offline when the last socket has been gone for a while. It runs on Node and reads
// its secret from the environment; it prints `ready <port>`. See docs/peers.md for why it is this way.
import { createSecretKey } from 'node:crypto'
import { createServer } from 'node:http'
import { jwtVerify } from 'jose'
import { Server } from 'socket.io'

const secret = createSecretKey(Buffer.from(process.env.PEER_SECRET ?? '', 'utf8'))
const pingIntervalMs = Number(process.env.PEER_PING_INTERVAL_MS ?? 15_000)
const WATCHED_MAX = 1_000
const OFFLINE_DELAY_MS = 10_000
const STATUSES = new Set(['online', 'away', 'busy'])

/** The state by user; `serial` counts the changes. */
const users = new Map()
const OFFLINE = { status: 'offline', serial: 0 }

const http = createServer()
const io = new Server(http, {
  transports: ['websocket'],
  serveClient: false,
  perMessageDeflate: false,
  httpCompression: false,
  pingInterval: pingIntervalMs,
  pingTimeout: pingIntervalMs,
})

// The first request of each connection would be kept for as long as the connection lives.
io.engine.on('connection', (connection) => {
  connection.request = null
})

io.use(async (socket, next) => {
  try {
    const { payload } = await jwtVerify(socket.handshake.auth.token, secret, { algorithms: ['HS256'] })
    socket.data.userId = payload.sub
    next()
  } catch {
    next(new Error('bad_token'))
  }
})

io.on('connection', (socket) => {
  const { userId } = socket.data
  arrive(userId)

  socket.on('watch', (userIds, answer) => {
    if (!Array.isArray(userIds) || userIds.length > WATCHED_MAX || typeof answer !== 'function') return
    socket.join(userIds.map(watchersOf))
    answer(userIds.map(view))
  })

  socket.on('status', (status, serial) => {
    if (STATUSES.has(status) && Number.isSafeInteger(serial)) change(userId, { status, serial })
  })

  socket.on('disconnect', () => leave(userId))
})

function watchersOf(userId) {
  return `watchers:${userId}`
}

function view(userId) {
  const { status, serial } = users.get(userId) ?? OFFLINE
  return { user_id: userId, status, serial }
}

function arrive(userId) {
  const user = users.get(userId)
  if (user === undefined) {
    users.set(userId, { status: 'online', serial: 0, sockets: 1, departure: null })
    announce(userId)
    return
  }
  user.sockets++
  clearTimeout(user.departure)
  user.departure = null
}

function change(userId, { status, serial }) {
  const user = users.get(userId)
  if (user === undefined || (user.status === status && user.serial === serial)) return
  user.status = status
  user.serial = serial
  announce(userId)
}

function leave(userId) {
  const user = users.get(userId)
  if (user === undefined || --user.sockets > 0) return
  user.departure = setTimeout(() => {
    users.delete(userId)
    announce(userId)
  }, OFFLINE_DELAY_MS)
}

function announce(userId) {
  io.to(watchersOf(userId)).emit('presence', view(userId))
}

http.listen(0, '127.0.0.1', () => console.log(`ready ${http.address().port}`))
process.on('SIGTERM', () => process.exit(0))
