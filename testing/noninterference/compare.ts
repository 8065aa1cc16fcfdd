// Plays a history twice, once as it is and once without its secret, and says where what the viewer got
// differs: which bytes, over which line, at which instant. Null when there is no difference at all.
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import type { SettingsInput } from '../server.ts'
import { HIDDEN_DEVICES, type History, type Move } from './moves.ts'
import { createStage, type Entry, type Line } from './stage.ts'
import { createWorld } from './world.ts'

/** Long enough for every flush, and for the ids of a stream. */
const AFTERMATH_MS = 6_000

const BASE: SettingsInput = {
  dev: true,
  port: 0,
  database_url: 'sqlite://:memory:',
  drain_ms: 0,
  heartbeat_interval_ms: 4_000,
  heartbeat_ttl_ms: 10_000,
  away_after_ms: 20_000,
  offline_delay_ms: 2_000,
}

export interface Account {
  /** Every line the viewer had. */
  lines: readonly Line[]
  /** After it what is seen of `hidden` is theirs to see. */
  comparableUntil: number
  /** Who was ever told more than nothing about `hidden`. */
  witnesses: { friend: boolean; viewer: boolean }
}

export function configOf(settings: SettingsInput) {
  const argv = Object.entries({ ...BASE, ...settings }).map(
    ([name, value]) => `--${name.replaceAll('_', '-')}=${value}`,
  )
  const loaded = loadConfig({ argv, env: {}, readFile: () => null })
  if (!loaded.ok) throw new Error(loaded.problem)
  return loaded.config
}

export async function play(history: History, isWithSecret: boolean): Promise<Account> {
  const { settings, steps, secretFrom, beginsMs = 0, archiveMs = 0 } = history
  const world = await createWorld({ config: configOf(settings), beginsMs, archiveMs })
  const stage = createStage(world)

  function perform(move: Move, position: number): Promise<void> {
    const isSecret = position >= secretFrom && move.who === 'hidden'
    if (!isSecret || isWithSecret) return stage.perform(move)
    // In the other world they left in the very moment they became invisible.
    const isLeaving = move.does === 'go invisible' && position === secretFrom
    return isLeaving ? stage.leaveWith('hidden', HIDDEN_DEVICES) : Promise.resolve()
  }

  for (const [position, { moves, passMs }] of steps.entries()) {
    const onStage = moves.filter(({ does }) => does !== 'restart')
    const done = Promise.all(onStage.map((move) => perform(move, position)))
    // With a slow database a move takes time, but the next one comes when it comes.
    if (archiveMs === 0) await world.until(done)
    if (onStage.length < moves.length) await world.restart()
    await world.clock.advance(passMs)
  }
  await world.clock.advance(AFTERMATH_MS)
  const lines = stage.linesOf('viewer').map(({ name, entries }) => ({ name, entries: [...entries] }))
  await world.stop()
  if (world.complaints.length > 0) throw new Error(`the server complained: ${world.complaints.join('')}`)
  const invisibleUntil = stage.invisibleUntil()
  return {
    lines,
    comparableUntil: invisibleUntil === 0 ? Number.POSITIVE_INFINITY : invisibleUntil,
    witnesses: { friend: stage.hasSeen('friend', 'hidden'), viewer: stage.hasSeen('viewer', 'hidden') },
  }
}

export interface Comparison {
  /** What the viewer can tell the two by; null when they cannot. */
  difference: string | null
  /** Who saw `hidden` in the history as it is. */
  witnesses: Account['witnesses']
}

export async function compare(history: History): Promise<Comparison> {
  const real = await play(history, true)
  const imagined = await play(history, false)
  const texts = [real, imagined].map(({ lines }) => textsOf(lines, real.comparableUntil))
  return { difference: firstDifference(texts[0]!, texts[1]!), witnesses: real.witnesses }
}

function firstDifference(real: readonly string[], imagined: readonly string[]): string | null {
  if (real.length !== imagined.length)
    return `the viewer can tell: ${real.length} lines, not ${imagined.length}`
  const at = real.findIndex((text, position) => text !== imagined[position])
  if (at === -1) return null
  return `the viewer can tell.\n--- as it is\n${real[at]}\n--- without the secret\n${imagined[at]}`
}

const SESSION_ID = /"session_id":"([^"]+)"/g
/** How long to wait before connecting elsewhere is left to chance. */
const WAIT = /"reconnect_after_ms":\d+/

function textsOf(lines: readonly Line[], comparableUntil: number): string[] {
  const sessions = new Map<string, string>()
  // The names of sessions are made up anew by every server; only which is which can be compared.
  const renamed = (_: string, id: string): string => {
    if (!sessions.has(id)) sessions.set(id, `session ${sessions.size}`)
    return `"session_id":"${sessions.get(id)}"`
  }
  const comparable = ({ at, text }: Entry): string =>
    `${at} ${text.replaceAll(SESSION_ID, renamed).replace(WAIT, '"reconnect_after_ms":…')}`
  return lines.map(({ name, entries }) =>
    [name, ...entries.filter(({ at }) => at < comparableUntil).map(comparable)].join('\n'),
  )
}
