// The command without a process: flags in, lines and an exit code out. And the document about it, whose
// example must be what the command prints today.
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCapacity } from './command.ts'

function run(argv: string[], files: Record<string, string> = {}) {
  const out: string[] = []
  const err: string[] = []
  const code = runCapacity(argv, {
    readFile: (path) => files[path] ?? null,
    print: (line) => void out.push(line),
    complain: (line) => void err.push(line),
  })
  return { code, out: out.join('\n'), err }
}

describe('[C9] greendot capacity', () => {
  test('says what it takes and where every figure comes from', () => {
    const { code, out, err } = run(['--users', '50000000', '--contacts', '100', '--online', '0.3'])
    expect({ code, err }).toEqual({ code: 0, err: [] })
    for (const part of ['machines', 'masters', 'PostgreSQL', 'textbook', 'What it costs', 'beat_cpu_us']) {
      expect(out).toContain(part)
    }
    expect(out).not.toContain('Kafka')
    // Whatever a line names in brackets is in the list, and the other way round.
    const [figures, list] = out.split('\nConstants, ')
    const named = new Set(figures!.match(/\[[\d ]+\]/g)!.flatMap((found) => found.match(/\d+/g)!))
    const listed = Array.from(list!.matchAll(/^ [ ~] \[(\d+)\]/gm), ([, number]) => number!)
    expect([...named].toSorted()).toEqual(listed.toSorted())
  })

  test('marks what rests on an assumption, and only that', () => {
    const { out } = run([])
    expect(out).toMatch(/^ {3}connections /m)
    expect(out).toMatch(/^ ~ bandwidth out /m)
    expect(out).toMatch(/^ ~ \[\d+\] +packet_bytes .* assumption$/m)
  })

  test('--kafka adds a part', () => {
    expect(run(['--kafka']).out).toContain('partitions')
  })

  test('--only prints some parts, in the usual order, and their constants', () => {
    const { out } = run(['--only', 'postgres,traffic'])
    const titles = out.split('\n').filter((_, index, lines) => lines[index - 1] === '')
    expect(titles.map((title) => title.slice(0, 10))).toEqual(['Traffic in', 'PostgreSQL', 'Constants,'])
    expect(out).not.toContain('beat_cpu_us')
    expect(run(['--only', 'kafka']).out).toContain('partitions')
  })

  test('--online-users says how many are online, whatever share that is', () => {
    const { out } = run(['--online-users', '50000000', '--online', '0.25', '--json'])
    expect(JSON.parse(out).workload.users).toBe(200_000_000)
    expect(JSON.parse(out).sections[0].figures[0].value).toBe(50_000_000)
  })

  test('--json is the same for programs', () => {
    const { code, out } = run(['--users=1000', '--json'])
    const { workload, sections, constants } = JSON.parse(out)
    expect({ code, users: workload.users }).toEqual({ code: 0, users: 1000 })
    expect(sections[0].figures[0]).toEqual({
      label: 'users online',
      value: 200,
      unit: '',
      uses: [],
      assumes: [],
    })
    expect(constants[0]).toMatchObject({ name: 'connection_bytes', from: expect.any(String) })
  })

  test('--constants prints each with its origin', () => {
    const { code, out } = run(['--constants'])
    expect(code).toBe(0)
    expect(out).toMatch(/^ ~ +traffic_usd .* assumption$/m)
    expect(out).toMatch(/^ +beat_cpu_us .*bench/m)
    expect(JSON.parse(run(['--constants', '--json']).out)).toBeArray()
  })

  test('--measured takes one result or several', () => {
    const one = JSON.stringify({ constants: { beat_cpu_us: { value: 1234 } }, machine: 'mine' })
    const two = JSON.stringify({ constants: { frame_cpu_us: { value: 5678 } } })
    const { out } = run(['--measured', 'one.json,two.json', '--constants'], {
      'one.json': one,
      'two.json': two,
    })
    expect(out).toMatch(/beat_cpu_us +1,234 .*one\.json; mine/)
    expect(out).toMatch(/frame_cpu_us +5,678 .*two\.json/)
  })

  for (const [argv, problem] of [
    [['--user', '5'], '--user: no such flag; did you mean --users?'],
    [['--nonsense=1'], '--nonsense: no such flag; --help lists them all'],
    [['50000000'], 'capacity takes flags only, as in: greendot capacity --users 1000000'],
    [['--online', '30'], '--online: needs a number from 0.0001 to 1'],
    [['--online-users', '0'], '--online-users: needs a whole number from 1 to 100,000,000,000'],
    [
      ['--users', '5', '--online-users', '5'],
      '--online-users: says how many --users there are; leave one of them out',
    ],
    [
      ['--only', 'traffic,cost'],
      '--only: there is no part cost; there are traffic, gateways, redis, postgres, kafka, textbook, costs',
    ],
    [['--users'], '--users: needs a value, as in --users <value> or --users=<value>'],
    [['--measured', 'none.json'], '--measured: there is no file none.json'],
    [['--measured', 'bad.json'], '--measured: bad.json is not JSON'],
  ] as const) {
    test(`"${argv.join(' ')}" is used wrongly`, () => {
      expect(run([...argv], { 'bad.json': '{' })).toEqual({ code: 2, out: '', err: [problem] })
    })
  }

  test('a workload that no machines can carry fails', () => {
    const { code, out, err } = run(['--cores=64', '--memory-gb=1'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toEqual([expect.stringContaining('--memory-gb')])
  })
})

// After new measurements: UPDATE_DOCS=1 bun test packages/bench/src/capacity/command.test.ts
test('[C9] docs/capacity.md shows what the command prints', () => {
  const path = join(import.meta.dir, '../../../../docs/capacity.md')
  const document = readFileSync(path, 'utf8')
  const examples = /(```sh\nnpx greendot capacity (.*)\n```\n\n```text\n)[\s\S]*?(\n```\n)/g
  const printed = document.replace(examples, (_, before: string, flags: string, after: string) => {
    return before + run(flags.split(' ')).out + after
  })
  expect(document.match(examples)).toHaveLength(2)
  if (process.env.UPDATE_DOCS === '1') writeFileSync(path, printed)
  else expect(document).toBe(printed)
})

test('[C10] docs/capacity.md says which share of a chat presence is', () => {
  const document = readFileSync(join(import.meta.dir, '../../../../docs/capacity.md'), 'utf8')
  const shares = (argv: string[]) => {
    const { out } = run([...argv, '--only', 'traffic', '--json'])
    const figures: { unit: string; value: number }[] = JSON.parse(out).sections[0].figures
    return figures.filter(({ unit }) => unit === '%').map(({ value }) => value.toFixed(1))
  }
  const [idle, busy] = shares([])
  const [slowIdle, slowBusy] = shares(['--heartbeat-interval-ms', '60000'])
  const words = document.replaceAll('\n', ' ')
  expect(words).toContain(`${idle} % for an idle connection of the default workload and ${busy} % all in all`)
  expect(words).toContain(`60000\` it is ${slowIdle} % idle, and still ${slowBusy} % all in all`)
})
