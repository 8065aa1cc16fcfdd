// `greendot bench`: the way from the program to the benchmark in bench/, most of which is loaded only when
// it is asked for. This is the one file of the program that may import from there.
import { CATALOG } from '../../../bench/src/catalog.ts'
import { FLAGS } from '../../../bench/src/options.ts'
import type { Command } from './command.ts'

export const bench: Command = {
  name: 'bench',
  summary: 'measures a server under load and writes a report',
  about: [
    'As in: greendot bench churn --users 5000 --contacts 18 --rate 1000 --out report',
    'Starts a server and load generators on this machine, one scenario after the other, and stops them.',
    '',
    ...Object.entries(CATALOG).map(([name, summary]) => `  ${name.padEnd(11)}  ${summary}`),
  ],
  options: FLAGS.map(({ name, sign, help, fallback }) => ({
    name,
    sign,
    help: fallback === undefined ? help : `${help} [${fallback}]`,
  })),
  takesSettings: false,
  async run(argv, world) {
    const { runBench } = await import('../../../bench/src/command.ts')
    return runBench(argv, world)
  },
}
