// Where two accounts of one interval differ: what a viewer got over their lines in one world, and what they got
// in the other, between two instants at which both worlds were quiet. The promise (S6) is the same entries in the
// same order. Not promised are milliseconds, and in which of two neighbouring flushes a frame travels. All that
// this permits is in this file, each with its reason; everything else must be equal.
import type { Presence } from '@greendot/protocol'
import type { Entry, Line } from './stage.ts'

/** One change of a change frame, or any other entry as a whole. */
interface Item {
  /** The target of a change, or that it is an own view; null for every other entry. */
  target: string | null
  /** The version that is pushed; 0 for a target that is hidden, and for every other entry. */
  version: number
  text: string
  at: number
  /** The entry it was part of. */
  entry: Entry
}

export interface Leniency {
  flushMs: number
  /** The user who is hidden, of whom less may be missing than of others. */
  hiddenId: string
}

/** The first difference as a text, with the entries of both worlds; null when there is none. */
export function firstDifference(
  real: readonly Line[],
  without: readonly Line[],
  leniency: Leniency,
): string | null {
  if (real.length !== without.length)
    return `the viewer can tell: ${real.length} lines, not ${without.length}`
  for (const [position, one] of real.entries()) {
    const other = without[position]!
    const isSame = one.name === other.name && areAlike(itemsOf(one.entries), itemsOf(other.entries), leniency)
    if (!isSame)
      return `the viewer can tell.\n--- as it is\n${textOf(one)}\n--- without the secret\n${textOf(other)}`
  }
  return null
}

const textOf = ({ name, entries }: Line) =>
  [name, ...entries.map(({ at, text }) => `${at} ${text}`)].join('\n')

const SESSION_ID = /"session_id":"([^"]+)"/g
/** The instant at which the frame itself was sent: instants are not compared. */
const SERVER_TIME = /("type":"welcome".*"server_time":)\d+/
/** How long to wait before connecting elsewhere is random. */
const RECONNECT_AFTER = /"reconnect_after_ms":\d+/

/** For the entries of one world, from its first to its last: without what every server makes up anew. */
export function createNormaliser(): (lines: readonly Line[]) => Line[] {
  const sessions = new Map<string, string>()
  // Session ids are random. Which frame speaks of which session is compared.
  const renamed = (_: string, id: string): string => {
    if (!sessions.has(id)) sessions.set(id, `session ${sessions.size}`)
    return `"session_id":"${sessions.get(id)}"`
  }
  const normalised = ({ at, text }: Entry): Entry => ({
    at,
    text: text
      .replaceAll(SESSION_ID, renamed)
      .replace(SERVER_TIME, '$1…')
      .replace(RECONNECT_AFTER, '"reconnect_after_ms":…'),
  })
  return (lines) => lines.map(({ name, entries }) => ({ name, entries: entries.map(normalised) }))
}

/** A keep-alive of a stream says how long nothing else was said, which is a duration and nothing more. */
const KEEP_ALIVE = ':\n\n'
const CHANGE_FRAME = /^(?:data: )?(\{"type":"presence_change".*\})\s*$/
const OWN_VIEW_FRAME = /^\{"type":"self","presence":(.*)\}$/
/** No user id has white space. */
const OWN_VIEW = 'own view'

/**
 * A change frame is taken apart, because changes that wait for one flush travel in one frame, and one by one
 * where a flush came in between. An own view waits for a flush too, and a deadline may push it while an answer
 * takes longer in one of the worlds.
 */
function itemsOf(entries: readonly Entry[]): Item[] {
  return entries.flatMap((entry): Item[] => {
    const { at, text } = entry
    if (text === KEEP_ALIVE) return []
    const ownView = OWN_VIEW_FRAME.exec(text)?.[1]
    if (ownView !== undefined) {
      const { version } = JSON.parse(ownView) as Presence
      return [{ target: OWN_VIEW, version, text, at, entry }]
    }
    const frame = CHANGE_FRAME.exec(text)?.[1]
    if (frame === undefined) return [{ target: null, version: 0, text, at, entry }]
    const { changes } = JSON.parse(frame) as { changes: readonly Presence[] }
    return changes.map((change): Item => {
      const { user_id: target, version } = change
      return { target, version, text: JSON.stringify(change), at, entry }
    })
  })
}

function areAlike(real: readonly Item[], without: readonly Item[], leniency: Leniency): boolean {
  const pairs: [Item, Item][] = []
  for (const target of new Set([...real, ...without].map(({ target }) => target))) {
    const of = (items: readonly Item[]) => items.filter((item) => item.target === target)
    const found = pair(of(real), of(without), isOvertaken(leniency))
    if (found === null) return false
    pairs.push(...found)
  }
  return areInOrder(pairs, [real, without], leniency)
}

type Skip = (items: readonly Item[], position: number) => boolean

/**
 * Of each target a connection is owed only the newest change. One that was overtaken by the next before its flush
 * came is not told, so it may be missing, but only where the next one came so soon that it could have been.
 * Of the hidden user only a change that a higher version has overtaken may be missing: versions count all
 * changes, so if it belonged to one world only, the next one could not be the same in both. What a
 * viewer is no longer allowed to see (version 0) must have been told in both.
 */
function isOvertaken({ flushMs, hiddenId }: Leniency): Skip {
  return (items, position) => {
    const [item, next] = [items[position]!, items[position + 1]]
    if (item.target === null || next === undefined) return false
    const isNewer = item.target === hiddenId ? next.version > item.version : next.version !== item.version
    return isNewer && next.at - item.at <= neighbouringMs(flushMs)
  }
}

/** From a flush to the end of the one after the next: what falls into two neighbouring flushes is not farther apart. */
const neighbouringMs = (flushMs: number) => 2 * flushMs

/** Which item is which in the other world; null where one has something that the other has not. */
function pair(
  real: readonly Item[],
  without: readonly Item[],
  mayBeMissing: Skip,
  [at, otherAt]: [number, number] = [0, 0],
): [Item, Item][] | null {
  const [one, other] = [real[at], without[otherAt]]
  if (one === undefined && other === undefined) return []
  if (one !== undefined && one.text === other?.text) {
    const rest = pair(real, without, mayBeMissing, [at + 1, otherAt + 1])
    if (rest !== null) return [[one, other], ...rest]
  }
  if (one !== undefined && mayBeMissing(real, at)) {
    const rest = pair(real, without, mayBeMissing, [at + 1, otherAt])
    if (rest !== null) return rest
  }
  if (other !== undefined && mayBeMissing(without, otherAt))
    return pair(real, without, mayBeMissing, [at, otherAt + 1])
  return null
}

/**
 * Two entries that have changed places are explained by a neighbouring flush when one of them is pushed and
 * they are as near to each other as two such flushes, in both worlds. Answers and other frames never change places,
 * nor do changes that share a frame in both worlds.
 */
function areInOrder(
  pairs: readonly [Item, Item][],
  [real, without]: readonly [readonly Item[], readonly Item[]],
  { flushMs }: Leniency,
): boolean {
  const isNear = (one: Item, other: Item) => Math.abs(one.at - other.at) <= neighbouringMs(flushMs)
  const ordered = pairs
    .map(([one, other]) => ({ one, other, at: real.indexOf(one), otherAt: without.indexOf(other) }))
    .sort((a, b) => a.at - b.at)
  return ordered.every((first, position) =>
    ordered.slice(position + 1).every((second) => {
      if (first.otherAt < second.otherAt) return true
      const isAnyPush = first.one.target !== null || second.one.target !== null
      const isInOneFrame = first.one.entry === second.one.entry && first.other.entry === second.other.entry
      return isAnyPush && !isInOneFrame && isNear(first.one, second.one) && isNear(first.other, second.other)
    }),
  )
}
