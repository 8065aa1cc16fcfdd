// The users of a history in one world: their sockets, their streams, their requests, and a record of
// every byte each of them got and at which instant.
import {
  type Activity,
  COMPACT_ACTIVE,
  COMPACT_IDLE,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  type ServerFrame,
} from '@greendot/protocol'
import type { Opening, Socket } from '../../packages/server/src/gateway/sessions/session-table.ts'
import { comparable } from './compact-frames.ts'
import { createGrpcLines, type GrpcLines } from './grpc-lines.ts'
import { HIDDEN_DEVICES, type Known, type Move, type Name, type Said, USERS } from './moves.ts'
import type { Call } from './switchboard.ts'
import type { World } from './world.ts'

const BEAT_EVERY_MS = 4_000
const HEARTBEATS = {
  json: { active: HEARTBEAT_ACTIVE, idle: HEARTBEAT_IDLE },
  compact: { active: COMPACT_ACTIVE, idle: COMPACT_IDLE },
} as const

export interface Entry {
  at: number
  text: string
}

/** One connection, stream or request of a user, and what came over it. */
export interface Line {
  name: string
  entries: Entry[]
}

export interface Stage {
  /** Resolves when the move is done; the clock must be moved for that. */
  perform(move: Move): Promise<void>
  /** What becomes of `go invisible` in the world where they left. */
  leaveWith(who: Name, devices: readonly string[]): Promise<void>
  linesOf(who: Name): readonly Line[]
  /** Whether the user was ever told more than nothing about another. */
  hasSeen(who: Name, userId: string): boolean
  /** Until then `hidden` stays invisible; without end for a user who never went invisible. */
  invisibleUntil(): number
  /** How many entries all lines have. */
  entries(): number
}

interface Connection {
  socket: Socket
  isOpen: boolean
  isStalled: boolean
  isBeating: boolean
  isCompact: boolean
  activity: Activity
}

interface User {
  lines: Line[]
  connections: Map<string, Connection>
  streams: Set<ReadableStreamDefaultReader<unknown>>
  lastEventId: string
  /** The newest version shown of each, over all connections. */
  shown: Map<string, number>
  seen: Set<string>
  etags: Map<string, string>
  /** Made when first used. */
  grpc: GrpcLines | null
}

const newUser = (): User => ({
  lines: [],
  connections: new Map(),
  streams: new Set(),
  lastEventId: '',
  shown: new Map(),
  seen: new Set(),
  etags: new Map(),
  grpc: null,
})

export function createStage(world: World): Stage {
  const { clock } = world
  const users = new Map<Name, User>(USERS.map((name) => [name, newUser()]))
  let invisibleUntil = 0
  let entries = 0

  const userOf = (who: Name) => users.get(who)!

  function newLine(who: Name, name: string): Line {
    const { lines } = userOf(who)
    const line = { name: `${name} #${lines.length}`, entries: [] }
    lines.push(line)
    return line
  }

  function record(line: Line, text: string): void {
    line.entries.push({ at: clock.now(), text })
    entries++
  }

  function take(user: User, frame: ServerFrame): void {
    const told: readonly Presence[] =
      frame.type === 'presence_state' ? frame.states : frame.type === 'presence_change' ? frame.changes : []
    learn(user, told)
  }

  function learn(user: User, told: readonly Pick<Presence, 'user_id' | 'version'>[]): void {
    for (const { user_id: userId, version } of told) {
      user.shown.set(userId, version)
      if (version > 0) user.seen.add(userId)
    }
  }

  const connectionOf = (who: Name, device: string): Connection | null => {
    const connection = userOf(who).connections.get(device)
    return connection?.isOpen === true ? connection : null
  }

  function hangUp(who: Name, device: string): void {
    const connection = connectionOf(who, device)
    if (connection === null) return
    connection.isOpen = false
    world.gateway().sockets.close(connection.socket)
  }

  function open(move: Extract<Move, { does: 'open' }>): void {
    const { who, device, platform, activity, isBeating, encoding } = move
    const isCompact = encoding === 'compact'
    hangUp(who, device)
    const user = userOf(who)
    const line = newLine(who, `socket of ${device}`)
    const opening: Opening = {
      userId: who,
      deviceId: device,
      platform,
      activity,
      tokenExpiresAt: null,
      encoding,
    }
    const connection: Connection = {
      socket: {
        data: opening,
        isPaused: false,
        getBufferedAmount: () => 0,
        send(bytes: string) {
          const frame = isCompact ? comparable(bytes) : bytes
          record(line, frame)
          take(user, JSON.parse(frame))
          return connection.isStalled ? -1 : bytes.length
        },
        close(code: number, reason: string) {
          record(line, `closed ${code} ${reason}`)
          connection.isOpen = false
        },
      } as unknown as Socket,
      isOpen: true,
      isStalled: false,
      isBeating,
      isCompact,
      activity: activity ?? 'active',
    }
    user.connections.set(device, connection)
    world.gateway().sockets.open(connection.socket)
  }

  function say(who: Name, device: string, frame: Said): void {
    const connection = connectionOf(who, device)
    if (connection === null) return
    if (frame.type === 'heartbeat') connection.activity = frame.activity as Activity
    world.gateway().sockets.message(connection.socket, JSON.stringify(withInstants(frame)))
  }

  const withInstants = ({ expires_in_ms: expiresInMs, ...said }: Said): Said =>
    typeof expiresInMs === 'number' ? { ...said, expires_at: clock.now() + expiresInMs } : said

  function knownTo(user: User, known: Known, userIds: readonly string[]): Said {
    if (known === 'none') return {}
    const versionOf = (userId: string) => (known === 'shown' ? user.shown.get(userId) : known)
    const pairs = userIds.map((userId) => [userId, versionOf(userId)])
    return { known: Object.fromEntries(pairs.filter(([, version]) => version !== undefined)) }
  }

  clock.every(BEAT_EVERY_MS, () => {
    for (const { connections } of users.values()) {
      for (const { socket, isOpen, isBeating, isCompact, activity } of connections.values()) {
        if (!isOpen || !isBeating) continue
        world.gateway().sockets.message(socket, HEARTBEATS[isCompact ? 'compact' : 'json'][activity])
      }
    }
  })

  function stall(who: Name, device: string, isStalled: boolean): void {
    const connection = connectionOf(who, device)
    if (connection === null || connection.isStalled === isStalled) return
    connection.isStalled = isStalled
    const row = connection.socket.data
    if (!isStalled && typeof row === 'number') world.gateway().sockets.drained(connection.socket)
  }

  async function call(who: Name, request: Call): Promise<void> {
    const user = userOf(who)
    const line = newLine(who, `${request.method} ${request.path}`)
    const response = await world.http().call(request)
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).sort()
    const text = await response.text()
    record(line, [`status ${response.status}`, ...headers, text].join('\n'))
    const etag = response.headers.get('etag')
    if (etag !== null) user.etags.set(request.path, etag)
  }

  async function stream(who: Name, userIds: readonly string[], isResumed: boolean): Promise<void> {
    const user = userOf(who)
    await endStream(who)
    const line = newLine(who, `stream of ${userIds}`)
    const headers: Record<string, string> = isResumed ? { 'last-event-id': user.lastEventId } : {}
    const path = `/api/v1/stream?user_ids=${userIds}`
    const response = await world.http().call({ method: 'GET', path, token: `dev:${who}`, headers })
    record(line, [`status ${response.status}`, ...response.headers].join('\n'))
    const reader = response.body!.getReader()
    user.streams.add(reader)
    void follow(user, reader, line)
  }

  async function follow(user: User, reader: ReadableStreamDefaultReader<unknown>, line: Line): Promise<void> {
    while (true) {
      const { value, done } = await reader.read()
      if (done) return record(line, 'end')
      const text = typeof value === 'string' ? value : new TextDecoder().decode(value as Uint8Array)
      record(line, text)
      user.lastEventId = /^id: (.*)$/m.exec(text)?.[1] ?? user.lastEventId
      const frame = /^data: (.*)$/m.exec(text)?.[1]
      if (frame !== undefined) take(user, JSON.parse(frame))
    }
  }

  async function endStream(who: Name): Promise<void> {
    const { streams } = userOf(who)
    const ended = [...streams]
    streams.clear()
    await Promise.all(ended.map((reader) => reader.cancel()))
  }

  function grpcOf(who: Name): GrpcLines {
    const user = userOf(who)
    user.grpc ??= createGrpcLines({
      world,
      newLine(name) {
        const line = newLine(who, name)
        return (text) => record(line, text)
      },
      learn: (told) => learn(user, told),
    })
    return user.grpc
  }

  async function subscribe(who: Name, userIds: readonly string[]): Promise<void> {
    await grpcOf(who).open('SubscribePresence', `dev:${who}`)
    await grpcOf(who).ask('SubscribePresence', { user_ids: userIds, known: {} })
  }

  async function ask(who: Name, request: Said): Promise<void> {
    const grpc = grpcOf(who)
    if (!grpc.hasOpen('Watch')) await grpc.open('Watch', `dev:${who}`)
    await grpc.ask('Watch', request)
  }

  function tokenOf(who: Name | null, as: 'self' | 'backend' | 'anyone'): string | null {
    if (as === 'anyone') return null
    return as === 'backend' ? 'dev' : `dev:${who}`
  }

  async function goInvisible(by: 'socket' | 'self' | 'backend', expiresInMs: number | null): Promise<void> {
    const choice = { status: 'invisible', expires_in_ms: expiresInMs }
    // Once they are visible again the comparison is over, and hiding anew does not bring it back.
    if (invisibleUntil === 0 || clock.now() < invisibleUntil)
      invisibleUntil = expiresInMs === null ? Number.POSITIVE_INFINITY : clock.now() + expiresInMs
    const device = HIDDEN_DEVICES.find((one) => connectionOf('hidden', one) !== null)
    if (by === 'socket' && device !== undefined)
      return say('hidden', device, { type: 'set_availability', ...choice })
    const path = by === 'backend' ? '/api/v1/users/hidden/availability' : '/api/v1/presence/availability'
    const token = by === 'backend' ? 'dev' : 'dev:hidden'
    return call('hidden', { method: 'PUT', path, token, body: withInstants(choice) })
  }

  return {
    async perform(move) {
      switch (move.does) {
        case 'open':
          return open(move)
        case 'say':
          return say(move.who, move.device, move.frame)
        case 'watch': {
          const { who, device, userIds, known } = move
          const claimed = knownTo(userOf(who), known, userIds)
          return say(who, device, { type: 'watch', user_ids: userIds, ...claimed })
        }
        case 'hang up':
          return hangUp(move.who, move.device)
        case 'stall':
          return stall(move.who, move.device, true)
        case 'catch up':
          return stall(move.who, move.device, false)
        case 'stream':
          return stream(move.who, move.userIds, move.isResumed)
        case 'end stream':
          return endStream(move.who)
        case 'call': {
          const { who, as, method, path, body } = move
          const etag = userOf(who ?? 'other').etags.get(path)
          return call(who ?? 'other', {
            method,
            path,
            token: tokenOf(who, as),
            ...(body === undefined ? {} : { body: withInstants(body) }),
            ...(etag === undefined ? {} : { headers: { 'if-none-match': etag } }),
          })
        }
        case 'call by gRPC':
          return grpcOf(move.who ?? 'other').call(
            move.method,
            tokenOf(move.who, move.as),
            withInstants(move.message),
          )
        case 'subscribe':
          return subscribe(move.who, move.userIds)
        case 'ask':
          return ask(move.who, move.request)
        case 'end gRPC':
          return grpcOf(move.who).endAll()
        case 'go invisible':
          return goInvisible(move.by, move.expiresInMs)
        case 'restart':
          throw new Error('a restart concerns all users; it is not performed on the stage')
      }
    },
    async leaveWith(who, devices) {
      const path = '/api/v1/leave'
      const leave = (device: string) =>
        call(who, { method: 'POST', path, token: `dev:${who}`, body: { device_id: device } })
      await Promise.all(devices.map(leave))
    },
    linesOf: (who) => userOf(who).lines,
    hasSeen: (who, userId) => userOf(who).seen.has(userId),
    invisibleUntil: () => (invisibleUntil === 0 ? Number.POSITIVE_INFINITY : invisibleUntil),
    entries: () => entries,
  }
}
