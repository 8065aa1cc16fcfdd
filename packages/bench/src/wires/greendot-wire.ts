// How the load speaks to Greendot: as a browser would, with a signed token in the address, a watch of
// all contacts after the welcome, and heartbeats that say active or idle. A change is the step between
// those two. The serial of a change is its distance from the version at the mark, because a version
// grows by one with every visible change. Two steps at once would be none for the server, so a change
// waits until the own view confirms the one before it; it is late then, and counts as late.
import {
  COMPACT_ACTIVE,
  COMPACT_CHANGE,
  COMPACT_IDLE,
  COMPACT_SEPARATOR,
  COMPACT_STATE,
  decodeServerFrame,
  type Encoding,
  HEARTBEAT_ACTIVE,
  HEARTBEAT_IDLE,
  type Presence,
  SUBPROTOCOL_COMPACT,
} from '@greendot/protocol'
import { textFrame } from './frames.ts'
import { BenchSocket, type WebSocketListener } from './web-socket.ts'
import {
  type Connection,
  type ConnectionEvents,
  type ConnectionOptions,
  type Target,
  userName,
  type Wire,
} from './wire.ts'

const BEATS: Record<Encoding, { active: Uint8Array; idle: Uint8Array }> = {
  json: { active: textFrame(HEARTBEAT_ACTIVE), idle: textFrame(HEARTBEAT_IDLE) },
  compact: { active: textFrame(COMPACT_ACTIVE), idle: textFrame(COMPACT_IDLE) },
}
const VERSION = Buffer.from('"version":')
/** Where the type of a frame differs from that of others: after `{"type":"` and after `presence_`. */
const TYPE_AT = 9
const KIND_AT = 18
const byte = (letter: string): number => letter.charCodeAt(0)
const [W, P, C, S, E, D, O] = ['w', 'p', 'c', 's', 'e', 'd', 'o'].map(byte)
const [BRACE, SEPARATOR] = ['{', COMPACT_SEPARATOR].map(byte)
const [CHANGE, STATE] = [COMPACT_CHANGE, COMPACT_STATE].map(byte)

/** The key of the encoding among the further settings of a target; JSON where it is not set. */
export const ENCODING = 'encoding'

export const greendotWire: Wire = {
  open: (target, options) => new GreendotConnection(target, options),
}

export function greendotPath(token: string, user: number): string {
  return `/api/v1/ws?token=${token}&device_id=device-${user}&platform=web`
}

class GreendotConnection implements Connection, WebSocketListener {
  readonly #socket: BenchSocket
  readonly #events: ConnectionEvents
  readonly #contacts: readonly number[]
  /** By position of the contact: the newest version received, and the one that counts as change 0. */
  readonly #versions: Float64Array | null
  #base: Float64Array | null = null
  #statesMissing: number
  #isIdle = false
  readonly #beats: (typeof BEATS)[Encoding]
  /** Changes that were asked for and not sent yet, and whether one is on its way. */
  #waiting = 0
  #isUnderWay = false

  constructor(target: Target, { user, contacts, isExact, events }: ConnectionOptions) {
    this.#events = events
    this.#contacts = contacts
    this.#versions = isExact ? new Float64Array(contacts.length) : null
    this.#statesMissing = contacts.length
    const isCompact = target.extra[ENCODING] === 'compact'
    this.#beats = BEATS[isCompact ? 'compact' : 'json']
    const path = greendotPath(target.token(user), user)
    this.#socket = new BenchSocket(target, path, this, isCompact ? SUBPROTOCOL_COMPACT : null)
  }

  change(): void {
    this.#waiting++
    this.#changeNext()
  }

  beat(): void {
    const frame = this.#isIdle ? this.#beats.idle : this.#beats.active
    this.#socket.send(frame)
    this.#events.onSent(frame.length)
  }

  mark(): void {
    this.#base = this.#versions?.slice() ?? null
  }

  pauseReading(): void {
    this.#socket.pause()
  }

  close(): void {
    this.#socket.end()
  }

  onOpen(): void {}

  onBytes(bytes: number): void {
    this.#events.onBytes(bytes)
  }

  onEnd(why: string): void {
    if (why !== 'the connection ended') this.#events.onError(why)
    this.#events.onClose()
  }

  onMessage(bytes: Buffer, from: number, to: number): void {
    const type = bytes[from + TYPE_AT]
    if (bytes[from] === CHANGE) this.#onChanges(bytes, from, to)
    else if (bytes[from] === STATE) this.#onStates(bytes, from, to)
    else if (type === P && bytes[from + KIND_AT] === C) this.#onChanges(bytes, from, to)
    else if (type === P && bytes[from + KIND_AT] === S) this.#onStates(bytes, from, to)
    else if (type === S) this.#onSelf(to - from)
    else if (type === W) this.#onWelcome()
    else if (type === E) this.#events.onError(bytes.toString('utf8', from, to))
    else if (type === D) this.#onDrain(bytes.toString('utf8', from, to))
    else if (type !== O)
      this.#events.onError(`not understood: ${bytes.toString('utf8', from, Math.min(to, from + 80))}`)
  }

  #onDrain(text: string): void {
    const { reconnect_after_ms } = JSON.parse(text) as { reconnect_after_ms: number }
    this.#events.onDrain?.(reconnect_after_ms)
  }

  #changeNext(): void {
    if (this.#isUnderWay || this.#waiting === 0) return
    this.#waiting--
    this.#isUnderWay = true
    this.#isIdle = !this.#isIdle
    this.beat()
  }

  #onSelf(bytes: number): void {
    this.#events.onOwnFrame(bytes)
    this.#isUnderWay = false
    this.#changeNext()
  }

  #onWelcome(): void {
    const watch = { type: 'watch', user_ids: this.#contacts.map(userName) }
    if (this.#contacts.length === 0) this.#events.onReady()
    else this.#socket.send(textFrame(JSON.stringify(watch)))
  }

  #onStates(bytes: Buffer, from: number, to: number): void {
    if (this.#statesMissing <= 0) return
    this.#statesMissing -= countUpdates(bytes, from, to)
    if (this.#versions !== null) {
      for (const presence of presencesIn(bytes, from, to)) this.#receive(presence)
    }
    if (this.#statesMissing <= 0) this.#events.onReady()
  }

  #onChanges(bytes: Buffer, from: number, to: number): void {
    if (this.#versions === null) {
      this.#events.onFrame(to - from, countUpdates(bytes, from, to))
      return
    }
    const changes = presencesIn(bytes, from, to)
    this.#events.onFrame(to - from, changes.length)
    for (const presence of changes) this.#receive(presence)
  }

  #receive({ user_id, status, version }: Presence): void {
    const user = Number(user_id.slice(user_id.lastIndexOf('-') + 1))
    const position = this.#contacts.indexOf(user)
    if (position < 0) {
      this.#events.onError(`received ${user_id}, which is not watched`)
      return
    }
    this.#versions![position] = version
    if (status === 'offline') this.#events.onGone(user)
    if (this.#base === null) return
    this.#events.onDelivery(user, version - this.#base[position]!)
  }
}

function presencesIn(bytes: Buffer, from: number, to: number): readonly Presence[] {
  const frame = decodeServerFrame(bytes.toString('utf8', from, to))
  if (frame.type === 'presence_state') return frame.states
  return frame.type === 'presence_change' ? frame.changes : []
}

/** How many presence objects a frame carries, without reading them. */
export function countUpdates(bytes: Buffer, from: number, to: number): number {
  let count = 0
  if (bytes[from] !== BRACE) {
    for (let at = from; at >= 0 && at < to; at = bytes.indexOf(SEPARATOR!, at + 1)) count++
    return count
  }
  for (let at = bytes.indexOf(VERSION, from); at >= 0 && at < to; at = bytes.indexOf(VERSION, at + 10))
    count++
  return count
}
