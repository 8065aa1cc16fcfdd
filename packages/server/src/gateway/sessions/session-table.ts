// Every session of this gateway in one table of typed arrays: WebSockets and clients that heartbeat over HTTP
// alike. The row of a session is its connection number. A row costs a few dozen bytes and no timer; liveness
// is found by walking the columns.
import { type Activity, type Encoding, type Failure, PLATFORMS, type Platform } from '@greendot/protocol'
import type { ServerWebSocket } from 'bun'
import { createScramble } from '../../platform/ids.ts'
import { grown, NIL } from '../../platform/typed-arrays.ts'
import type { Identity } from '../identity.ts'

/**
 * A socket brings its opening, or why it is refused, and from then on carries only its row number:
 * everything else is in the table. NIL when it has none, or none any more.
 */
export type Socket = ServerWebSocket<SocketData>
export type SocketData = number | Opening | Failure

/** What is known of a connection before it has a row. */
export interface Opening {
  userId: string
  deviceId: string
  platform: Platform
  /** What the client says of itself; without it a returning device carries on as it was. */
  activity: Activity | null
  tokenExpiresAt: number | null
  /** Null where the token does not say so. Not given where there is none. */
  tokenIssuedAt?: number | null
  /** The foreign gateway that reports the session. */
  foreign?: string
  /** How presence is written for it; JSON where it is not given. */
  encoding?: Encoding
}

/** What the client last said. Where it has not said it, it is unconfirmed until the first commit is back. */
export const ACTIVITY = { unconfirmed: 0, active: 1, idle: 2 } as const

export type SessionTable = ReturnType<typeof createSessionTable>

export function createSessionTable(identity: Identity) {
  const table = {
    sockets: [] as (Socket | null)[],
    deviceIds: [] as (string | undefined)[],
    /** The foreign gateway that reports the session; null for our own. */
    foreign: [] as (string | null)[],
    /** Interned index of the user; NIL when the row is free. */
    user: new Int32Array(0),
    platform: new Uint8Array(0),
    activity: new Uint8Array(0),
    generation: new Int32Array(0),
    connectedAt: new Float64Array(0),
    beatAt: new Float64Array(0),
    activeAt: new Float64Array(0),
    /** Stamp of the last event reported; events of one session carry strictly increasing stamps. */
    eventAt: new Float64Array(0),
    tokenExpiresAt: new Float64Array(0),
    /** Minus infinity for a token that does not say so, infinity where there is no token. */
    tokenIssuedAt: new Float64Array(0),
    awayAfterMs: new Float64Array(0),
    /** Revision of the own view sent last; 0 before the welcome. */
    ownRevision: new Float64Array(0),
    framesThisSecond: new Int32Array(0),
    badFrames: new Uint8Array(0),
    nextOfUser: new Int32Array(0),
    live: 0,
  }
  let headOfUser = new Int32Array(0)
  let generations = 0
  const scramble = createScramble()

  function reserve(rows: number): void {
    // Arrays with holes would be slow.
    while (table.sockets.length < rows) table.sockets.push(null)
    while (table.deviceIds.length < rows) table.deviceIds.push(undefined)
    while (table.foreign.length < rows) table.foreign.push(null)
    if (rows <= table.user.length) return
    table.user = grown(table.user, rows, NIL)
    table.platform = grown(table.platform, rows)
    table.activity = grown(table.activity, rows)
    table.generation = grown(table.generation, rows)
    table.connectedAt = grown(table.connectedAt, rows)
    table.beatAt = grown(table.beatAt, rows)
    table.activeAt = grown(table.activeAt, rows)
    table.eventAt = grown(table.eventAt, rows)
    table.tokenExpiresAt = grown(table.tokenExpiresAt, rows)
    table.tokenIssuedAt = grown(table.tokenIssuedAt, rows)
    table.awayAfterMs = grown(table.awayAfterMs, rows)
    table.ownRevision = grown(table.ownRevision, rows)
    table.framesThisSecond = grown(table.framesThisSecond, rows)
    table.badFrames = grown(table.badFrames, rows)
    table.nextOfUser = grown(table.nextOfUser, rows, NIL)
  }

  /** Fills a row for a session of `user`; `socket` is null for a client that heartbeats over HTTP. */
  function add(row: number, user: number, opening: Opening, socket: Socket | null, now: number): void {
    reserve(row + 1)
    table.sockets[row] = socket
    table.deviceIds[row] = opening.deviceId
    table.foreign[row] = opening.foreign ?? null
    table.user[row] = user
    table.platform[row] = PLATFORMS.indexOf(opening.platform)
    table.activity[row] = opening.activity === null ? ACTIVITY.unconfirmed : ACTIVITY[opening.activity]
    table.generation[row] = ++generations
    table.connectedAt[row] = now
    table.beatAt[row] = now
    table.activeAt[row] = now
    table.eventAt[row] = now
    setToken(row, opening)
    table.awayAfterMs[row] = Number.POSITIVE_INFINITY
    table.ownRevision[row] = 0
    table.framesThisSecond[row] = 0
    table.badFrames[row] = 0
    headOfUser = grown(headOfUser, user + 1, NIL)
    table.nextOfUser[row] = headOfUser[user]!
    headOfUser[user] = row
    table.live++
  }

  function setToken(row: number, token: Pick<Opening, 'tokenExpiresAt' | 'tokenIssuedAt'>): void {
    const { tokenExpiresAt, tokenIssuedAt } = token
    table.tokenExpiresAt[row] = tokenExpiresAt ?? Number.POSITIVE_INFINITY
    table.tokenIssuedAt[row] =
      tokenIssuedAt === undefined ? Number.POSITIVE_INFINITY : (tokenIssuedAt ?? Number.NEGATIVE_INFINITY)
  }

  function remove(row: number): void {
    const user = table.user[row]!
    if (headOfUser[user] === row) headOfUser[user] = table.nextOfUser[row]!
    else {
      let before = headOfUser[user]!
      while (table.nextOfUser[before] !== row) before = table.nextOfUser[before]!
      table.nextOfUser[before] = table.nextOfUser[row]!
    }
    table.user[row] = NIL
    table.sockets[row] = null
    table.deviceIds[row] = undefined
    table.foreign[row] = null
    table.live--
  }

  return {
    /** The columns by name. They are replaced when the table grows, so always read them from here. */
    columns: table,
    add,
    remove,
    /** The session goes on with this token. */
    setToken,
    *rows(): Generator<number> {
      for (let row = 0; row < table.user.length; row++) if (table.user[row] !== NIL) yield row
    },
    isLive: (row: number) => row < table.user.length && table.user[row] !== NIL,
    firstOfUser: (user: number) => (user < headOfUser.length ? headOfUser[user]! : NIL),
    /**
     * Unique as the gateway's name is: rows are reused, generations are not. A new name renames all.
     * Scrambled, because users read their own ids, and a plain count would tell how many sessions there are.
     */
    sessionId: (row: number, ofGateway = identity.id()) =>
      `${ofGateway}-${scramble(table.generation[row]!).toString(36)}`,
    platformOf: (row: number): Platform => PLATFORMS[table.platform[row]!]!,
    /** The stamp for the next event of this session. */
    stamp(row: number, now: number): number {
      const at = Math.max(now, table.eventAt[row]! + 1)
      table.eventAt[row] = at
      return at
    },
  }
}
