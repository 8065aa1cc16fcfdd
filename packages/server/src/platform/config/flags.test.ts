import { describe, expect, test } from 'bun:test'
import { strayProblem, takeFlags } from './flags.ts'

const KNOWN = new Map([['port', 'text'] as const, ['dev', 'switch'] as const])

describe('flags', () => {
  test('[C1] known flags are taken in every spelling, the last one wins', () => {
    const argv = ['--port', '1', '--port=2', '--dev', '--no-dev', '--dev=on']
    expect(takeFlags(argv, KNOWN)).toEqual({
      ok: true,
      values: new Map([
        ['port', '2'],
        ['dev', 'on'],
      ]),
      rest: [],
    })
  })

  test('[C1] everything else is left in its order, as it was written', () => {
    const rest = ['--user', 'zoë', '--name=a=b', '-xyz', '--no-port', '--__proto__=1', '']
    expect(takeFlags(['--dev', ...rest, '--port=1'], KNOWN)).toMatchObject({ ok: true, rest })
    expect(takeFlags(['--', '--dev'], KNOWN)).toMatchObject({ values: new Map(), rest: ['--', '--dev'] })
  })

  test('[C1] a value may start with one dash, and with two only behind an equals sign', () => {
    expect(takeFlags(['--port', '-1'], KNOWN)).toMatchObject({ values: new Map([['port', '-1']]) })
    expect(takeFlags(['--port=--dev'], KNOWN)).toMatchObject({ values: new Map([['port', '--dev']]) })
    expect(takeFlags(['--port', '--dev'], KNOWN)).toMatchObject({ ok: false })
    expect(takeFlags(['--port'], KNOWN)).toMatchObject({ ok: false })
  })

  test('[C1] an unknown flag is named with the nearest known one, its value is not repeated', () => {
    expect(strayProblem('--prot=secret', [...KNOWN.keys()])).toBe(
      '--prot: no such setting; did you mean --port?',
    )
    expect(strayProblem('secret', [...KNOWN.keys()])).toStartWith('a value belongs to no flag')
  })
})
