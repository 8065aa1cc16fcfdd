import { describe, expect, test } from 'bun:test'
import { describeFlags, type Flag, parseFlags } from './flags.ts'

const KNOWN: readonly Flag[] = [
  { name: 'users', sign: '<n>', help: 'how many', fallback: '10' },
  { name: 'set', sign: '<name=value>', help: 'a setting', isRepeatable: true },
  { name: 'pin', sign: null, help: 'on one core' },
]

function parsed(...argv: string[]) {
  const result = parseFlags(argv, KNOWN)
  if (!result.ok) throw new Error(result.problem)
  return result
}

describe('[X7] flags', () => {
  test('values, fallbacks, switches, repeated flags and words', () => {
    const { flags, words } = parsed('churn', '--set', 'a=1', '--no-pin', '--set=b=2', 'idle')
    expect(words).toEqual(['churn', 'idle'])
    expect([flags.text('users'), flags.isOn('pin'), flags.all('set')]).toEqual(['10', false, ['a=1', 'b=2']])
    expect([parsed('--users=5').flags.text('users'), parsed().flags.isOn('pin')]).toEqual(['5', null])
  })

  for (const [argv, problem] of [
    [['--user', '5'], '--user: no such flag; did you mean --users?'],
    [['--nonsense=1'], '--nonsense: no such flag; --help lists them all'],
    [['-x'], '-x: no such flag; --help lists them all'],
    [['--users'], '--users: needs a value, as in --users <value> or --users=<value>'],
    [['--users', '--pin'], '--users: needs a value, as in --users <value> or --users=<value>'],
    [['--pin=1'], '--pin: takes no value'],
  ] as const) {
    test(`"${argv.join(' ')}" is refused in one line that names the flag`, () => {
      expect(parseFlags(argv, KNOWN)).toEqual({ ok: false, problem })
    })
  }

  test('the help has every flag with its default', () => {
    expect(describeFlags(KNOWN)).toEqual([
      '  --users <n>         how many [10]',
      '  --set <name=value>  a setting',
      '  --pin               on one core',
    ])
  })
})
