// Plays a history in two worlds at the same time, once as it is and once without its secret, and says where
// what the viewer got differs. They are compared whenever both worlds are quiet, and have the same time
// throughout.
import { type Config, loadConfig } from '../../packages/server/src/platform/config/config.ts'
import type { SettingsInput } from '../clients/server.ts'
import { createNormaliser, firstDifference } from './difference.ts'
import { createLockstep, type Lockstep } from './lockstep.ts'
import { HIDDEN_DEVICES, type History, type Move } from './moves.ts'
import { createStage, type Line, type Stage } from './stage.ts'
import { SOUND, type Weakening } from './weakenings/weakening.ts'
import { createWorld, type World } from './world.ts'

/** Long enough for the ids of a stream. */
const AFTERMATH_MS = 6_000
/** Enough for two worlds to become quiet after a choice, however slow the archive. */
const QUIET_MS = 250

const BASE: SettingsInput = {
  dev: true,
  port: 0,
  database_url: 'sqlite://:memory:',
  drain_ms: 0,
  history_days: 30,
  heartbeat_interval_ms: 4_000,
  heartbeat_ttl_ms: 10_000,
  away_after_ms: 20_000,
  offline_delay_ms: 2_000,
}

export interface Witnesses {
  friend: boolean
  viewer: boolean
}

export interface Comparison {
  /** By what the viewer can tell the two worlds apart; null when they cannot. */
  difference: string | null
  /** Who was ever told more than nothing of `hidden` in the history as it is. */
  witnesses: Witnesses
}

/** By their settings as JSON: most histories have the same few, and each needs its own several times. */
const configs = new Map<string, Config>()

export function configOf(settings: SettingsInput): Config {
  const key = JSON.stringify(settings)
  const config = configs.get(key) ?? load(settings)
  configs.set(key, config)
  return config
}

function load(settings: SettingsInput): Config {
  const argv = Object.entries({ ...BASE, ...settings }).map(
    ([name, value]) => `--${name.replaceAll('_', '-')}=${value}`,
  )
  const loaded = loadConfig({ argv, env: {}, readFile: () => null })
  if (!loaded.ok) throw new Error(loaded.problem)
  return loaded.config
}

/** A world, its users, and which part of their moves they make. */
interface Performance {
  world: World
  stage: Stage
  perform(move: Move, position: number): Promise<void>
}

interface Player {
  performances: readonly Performance[]
  /** False when the rest of the history is not to be played. Called whenever all worlds are quiet. */
  onQuiet(): boolean
}

async function createPerformance(
  { settings, secretFrom, archiveMs = 0 }: History,
  isWithSecret: boolean,
  weakening: Weakening,
): Promise<Performance> {
  const world = await createWorld({ config: configOf(settings), archiveMs, weakening })
  const stage = createStage(world)
  return {
    world,
    stage,
    perform(move, position) {
      const isSecret = position >= secretFrom && move.who === 'hidden'
      if (!isSecret || isWithSecret) return stage.perform(move)
      // In the other world they left in the very moment they became invisible.
      const isLeaving = move.does === 'go invisible' && position === secretFrom
      return isLeaving ? stage.leaveWith('hidden', HIDDEN_DEVICES) : Promise.resolve()
    },
  }
}

async function playIn({ steps, settings }: History, { performances, onQuiet }: Player): Promise<void> {
  const driven = performances.map(({ world, stage }) => ({
    clock: world.clock,
    isBusy: world.isBusy,
    activity: () => world.activity() + stage.entries(),
  }))
  const lockstep = createLockstep(driven, configOf(settings).flushMs)
  const { stage } = performances[0]!
  try {
    for (const [position, { moves, passMs, runsOn }] of steps.entries()) {
      const onStage = moves.filter(({ does }) => does !== 'restart')
      await lockstep.until(
        ...performances.flatMap(({ perform }) => onStage.map((move) => perform(move, position))),
      )
      if (onStage.length < moves.length)
        await lockstep.until(...performances.map(({ world }) => world.restart()))
      // What is seen of a user who is visible again is theirs to see: nothing is compared from then on.
      const leftMs = stage.invisibleUntil() - lockstep.now()
      if (leftMs <= passMs + QUIET_MS) return await playOut(lockstep, leftMs, onQuiet)
      await lockstep.advance(passMs)
      if (runsOn === true) continue
      await lockstep.quiet()
      if (!onQuiet()) return
    }
    await playOut(lockstep, stage.invisibleUntil() - lockstep.now(), onQuiet)
  } finally {
    await lockstep.until(...performances.map(({ world }) => world.stop()))
  }
}

async function playOut(lockstep: Lockstep, leftMs: number, onQuiet: () => boolean): Promise<void> {
  const comparableUntil = lockstep.now() + leftMs
  await lockstep.advance(Math.max(0, Math.min(AFTERMATH_MS, leftMs - QUIET_MS)))
  await lockstep.quiet()
  if (lockstep.now() < comparableUntil) onQuiet()
}

/** The lines of the viewer since this was last called. */
function createIntervals(stage: Stage): () => Line[] {
  const taken: number[] = []
  const normalise = createNormaliser()
  return () =>
    normalise(
      stage.linesOf('viewer').map(({ name, entries }, position) => {
        const from = taken[position] ?? 0
        taken[position] = entries.length
        return { name, entries: entries.slice(from) }
      }),
    )
}

export async function compare(history: History, weakening = SOUND): Promise<Comparison> {
  const { flushMs } = configOf(history.settings)
  const real = await createPerformance(history, true, weakening)
  const without = await createPerformance(history, false, weakening)
  const [inReal, inWithout] = [createIntervals(real.stage), createIntervals(without.stage)]
  let difference: string | null = null
  await playIn(history, {
    performances: [real, without],
    onQuiet() {
      difference = firstDifference(inReal(), inWithout(), { flushMs, hiddenId: 'hidden' })
      return difference === null
    },
  })
  // A weakened server may complain; that is not what catches it.
  if (weakening === SOUND) throwComplaints([real.world, without.world])
  const { stage } = real
  return {
    difference,
    witnesses: { friend: stage.hasSeen('friend', 'hidden'), viewer: stage.hasSeen('viewer', 'hidden') },
  }
}

/** Plays a history as it is, and returns every line of the viewer. */
export async function play(history: History): Promise<readonly Line[]> {
  const performance = await createPerformance(history, true, SOUND)
  let lines: readonly Line[] = []
  await playIn(history, {
    performances: [performance],
    onQuiet() {
      // Copied, because stopping the world ends every line.
      lines = performance.stage
        .linesOf('viewer')
        .map(({ name, entries }) => ({ name, entries: [...entries] }))
      return true
    },
  })
  throwComplaints([performance.world])
  return lines
}

function throwComplaints(worlds: readonly World[]): void {
  const complaints = worlds.flatMap((world) => world.complaints)
  if (complaints.length > 0) throw new Error(`the server complained: ${complaints.join('')}`)
}
