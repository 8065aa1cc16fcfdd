// What the frames of a run cost when nothing but a loop of `send` carries them: the same sizes, the same
// rate, as many connections, on the same core, right after the run.
import { createScope } from '../platform/scope.ts'
import type { Subject } from '../subject/subject.ts'
import { startBare } from './bare.ts'
import type { Bench } from './scenario.ts'

const WARM_MS = 1_000

export interface Replay {
  framesPerCpuSecond: number
}

/** Null where it would not compare: several processes, or a run without frames. */
export async function bareReplay(
  subject: Subject,
  bench: Bench,
  { sizes, framesPerSecond }: { sizes: readonly number[]; framesPerSecond: number },
): Promise<Replay | null> {
  if (sizes.length === 0 || subject.pids().length > 1) return null
  const scope = createScope()
  bench.scope.add(scope.close)
  await subject.stop()
  const bare = await startBare({ ...bench, scope })
  const perSecond = Math.max(1, Math.round(framesPerSecond))
  const ms = Math.min(bench.options.seconds, 5) * 1000
  bench.progress.show(`bare loop: ${perSecond} frames a second`)
  await bare.order({ do: 'pace', sizes, perSecond, ms: WARM_MS }, WARM_MS)
  const { sent, cpuMs } = await bare.order({ do: 'pace', sizes, perSecond, ms }, ms)
  await scope.close()
  return { framesPerCpuSecond: sent / (cpuMs / 1000) }
}
