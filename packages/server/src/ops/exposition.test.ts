// The text format: families of several processes in one answer, and values that need quoting.
import { expect, test } from 'bun:test'
import { expositionOf, type Family, labelled, merged } from './exposition.ts'

const family = (name: string, value: number, labels = {}): Family => ({
  name,
  type: 'gauge',
  help: 'Something',
  samples: [{ suffix: '', labels, value }],
})

test('[X8, C1] a family of several processes is there once, with a sample of each', () => {
  const processes = ['0', '1'].map((worker) => labelled([family('a', 1), family('b', 2)], { worker }))
  expect(expositionOf(merged(processes))).toBe(
    [
      '# HELP a Something',
      '# TYPE a gauge',
      'a{worker="0"} 1',
      'a{worker="1"} 1',
      '# HELP b Something',
      '# TYPE b gauge',
      'b{worker="0"} 2',
      'b{worker="1"} 2',
      '',
    ].join('\n'),
  )
})

test('[X8] quotes, backslashes and line ends in a label are escaped', () => {
  const text = expositionOf([family('a', 1, { label: 'x"y\\z\n' })])
  expect(text).toEndWith('a{label="x\\"y\\\\z\\n"} 1\n')
})
