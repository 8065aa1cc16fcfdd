// Many seeds, spread over processes, because a simulation keeps one core busy. Each process takes every n-th seed and
// prints one line of JSON a seed; this one counts, shows the progress and describes what failed.
import { availableParallelism } from 'node:os'
import type { Planted } from '../planted/planting.ts'
import { planOf } from '../run/plan.ts'
import { runPlan } from '../run/run-plan.ts'
import { describeFailure } from './report.ts'

const PROGRESS_EVERY_MS = 2_000
const DESCRIBED_MAX = 3

export interface SeedLine {
  seed: number
  check: string | null
  what: string | null
  virtualMs: number
}

export interface SeedsOptions {
  seeds: number
  from: number
  jobs: number
  planted: Planted | null
}

export const jobsByDefault = (): number => availableParallelism()

/** Runs every `step`-th seed in this process. */
export function* runHere(
  from: number,
  to: number,
  step: number,
  planted: Planted | null,
): Generator<SeedLine> {
  for (let seed = from; seed < to; seed += step) {
    const { violations, virtualMs } = runPlan({
      plan: planOf(seed),
      ...(planted && { plant: planted.plant }),
    })
    const [first] = violations
    yield { seed, check: first?.check ?? null, what: first?.what ?? null, virtualMs }
  }
}

/** Returns how many seeds failed. */
export async function runSeeds({ seeds, from, jobs, planted }: SeedsOptions): Promise<number> {
  const startedAt = performance.now()
  const failed: SeedLine[] = []
  let done = 0
  let virtualMs = 0
  const rate = (): string => {
    const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000)
    const hours = virtualMs / 3_600_000
    return `${(done / seconds).toFixed(1)} seeds a second, ${(hours / seconds).toFixed(2)} virtual hours a second`
  }
  const progress = setInterval(
    () => console.log(`${done} of ${seeds} seeds, ${failed.length} failed, ${rate()}`),
    PROGRESS_EVERY_MS,
  )
  const children = Array.from({ length: jobs }, async (_, index) => {
    const args = ['--worker', String(from + index), String(from + seeds), String(jobs)]
    const plant = planted === null ? [] : ['--plant', planted.name]
    const child = Bun.spawn({
      cmd: [process.execPath, `${import.meta.dir}/run.ts`, ...args, ...plant],
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of linesOf(child.stdout)) {
      const result = JSON.parse(line) as SeedLine
      done++
      virtualMs += result.virtualMs
      if (result.check === null) continue
      failed.push(result)
      console.log(`seed ${result.seed}: ${result.check}: ${result.what}`)
    }
    if ((await child.exited) !== 0) throw new Error('a process of the simulation broke')
  })
  try {
    await Promise.all(children)
  } finally {
    clearInterval(progress)
  }
  for (const { seed } of failed.slice(0, DESCRIBED_MAX)) {
    const plant = planted?.plant
    const plan = planOf(seed)
    const result = runPlan({ plan, ...(plant && { plant }) })
    const failure = { plan, result, plant, plantName: planted?.name ?? null, isShrunk: true }
    console.log(`\n${describeFailure(failure).text}`)
  }
  console.log(`${seeds - failed.length} of ${seeds} seeds kept every promise; ${rate()}`)
  return failed.length
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}
