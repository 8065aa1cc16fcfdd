// Ratios that only a whole scenario can give, for the regression guard: what deliveries cost beside a bare
// loop of `send` with frames of the same sizes. Smaller than a benchmark, so the figures are not for publication.

import type { Micro, Reading } from '../micro/measure.ts'
import { type Options, parseOptions } from '../options.ts'
import { createScope } from '../platform/scope.ts'
import { churn } from '../scenarios/churn.ts'
import { fanout } from '../scenarios/fanout.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { startGreendot } from '../subject/greendot.ts'

const QUIET = { show() {}, say() {}, end() {} }

interface ScenarioRatio {
  name: string
  scenario: Scenario
  argv: readonly string[]
  /** The figure that holds it, in percent. */
  figure: string
}

async function measure({ name, scenario, argv, figure }: ScenarioRatio): Promise<Reading> {
  const scope = createScope()
  try {
    const options = optionsOf(argv)
    const settings = [...(scenario.settings ?? []), ...options.settings]
    const subject = await startGreendot(
      { gateways: 1, redis: null, port: null, core: options.serverCore, settings },
      scope,
    )
    const { figures, problems } = await scenario.run(subject, { options, scope, progress: QUIET })
    if (problems.length > 0) throw new Error(`${name}: ${problems[0]}`)
    const percent = figures.find((one) => one.name === figure)?.value
    if (percent === undefined) throw new Error(`${name}: the scenario has no figure ${figure}`)
    return { name, unit: 'of the bare loop', ours: percent / 100, bare: 1, ratio: percent / 100 }
  } finally {
    await scope.close()
  }
}

function optionsOf(argv: readonly string[]): Options {
  const parsed = parseOptions(argv)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.options
}

export const CHURN = 'churn beside a bare loop'
export const FANOUT = 'fan-out beside a bare loop'

export const churnRatio: Micro = {
  name: 'churn',
  about: 'frames per CPU-second, beside a bare loop of send with the same frames',
  missing: () => null,
  run: async () => [
    await measure({
      name: CHURN,
      scenario: churn,
      argv: ['churn', '--users', '1000', '--seconds', '4', '--rate', '1500'],
      figure: 'churn_of_bare_percent',
    }),
  ],
}

export const fanoutRatio: Micro = {
  name: 'fanout',
  about: 'frames per CPU-second of one change to all others, beside a bare loop of send',
  missing: () => null,
  run: async () => [
    await measure({
      name: FANOUT,
      scenario: fanout,
      // With a thousand the same server gave anything from 33 to 73 %.
      argv: ['fanout', '--users', '4000', '--seconds', '4'],
      figure: 'fanout_of_bare_percent',
    }),
  ],
}
