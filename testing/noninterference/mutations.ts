// Proves that the tests of noninterference can fail: takes one check at a time out of a copy of the server
// and runs the random histories there and then the small ones, which must catch it. Prints what was caught,
// by which test and after how many histories. `bun testing/noninterference/mutations.ts [part of a name …]`;
// NONINTERFERENCE_RUNS says how many histories a property may take.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Mutation } from './mutation.ts'
import { MUTATIONS } from './mutation-list.ts'

const ROOT = resolve(import.meta.dir, '../..')
const SOURCE = 'packages/server/src'
const RANDOM = ['./testing/noninterference/noninterference.test.ts']
const SMALL = ['leaks', 'leaks-through-others', 'leaks-of-watchers'].map(
  (name) => `./testing/noninterference/${name}.test.ts`,
)
const RUNS = process.env.NONINTERFERENCE_RUNS ?? '200'
const LEFT_OUT = new Set(['node_modules', 'dist'])

type Outcome =
  | { result: 'caught'; by: string; histories: number }
  | { result: 'survived' }
  /** The test failed, but not because the viewer could tell. */
  | { result: 'broken'; output: string }

function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-mutations-'))
  const filter = (path: string) => !LEFT_OUT.has(basename(path))
  for (const part of ['packages', 'testing', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function mutated(source: string, { name, file, edits }: Mutation): string {
  return edits.reduce((text, { from, to }) => {
    const places = text.split(from).length - 1
    if (places !== 1) throw new Error(`"${name}": ${file} has its text ${places} times, not once:\n${from}`)
    return text.replace(from, () => to)
  }, source)
}

const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

async function runTests(folder: string, tests: readonly string[]): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, 'test', '--bail=1', ...tests], {
    cwd: folder,
    env: { ...process.env, NONINTERFERENCE_RUNS: RUNS, NONINTERFERENCE_QUICK: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
  const output = out + error
  if ((await child.exited) === 0) return { result: 'survived' }
  const isTold = /the viewer (can tell|was told)/.test(output)
  const histories = /Property failed after (\d+) tests/.exec(output)?.[1]
  const by = /^\(fail\) (.*) \[/m.exec(output)?.[1]
  if (!isTold || by === undefined) return { result: 'broken', output }
  return { result: 'caught', by, histories: Number(histories ?? 1) }
}

async function main(filters: readonly string[]): Promise<boolean> {
  const chosen = MUTATIONS.filter(
    ({ name }) => filters.length === 0 || filters.some((part) => name.includes(part)),
  )
  const folder = copyTree()
  try {
    // All texts are looked for before any test runs: a list that is out of date should say so at once.
    const files = chosen.map((mutation) => {
      const path = join(folder, SOURCE, mutation.file)
      const source = readFileSync(path, 'utf8')
      return { mutation, path, source, text: mutated(source, mutation) }
    })
    const untouched = await runTests(folder, [...RANDOM, ...SMALL])
    if (untouched.result !== 'survived') throw new Error(`the server as it is fails: ${describe(untouched)}`)
    let isWhole = true
    for (const { mutation, path, source, text } of files) {
      writeFileSync(path, text)
      const outcome = await runTests(folder, mutation.isRare === true ? SMALL : [...RANDOM, ...SMALL])
      writeFileSync(path, source)
      if (outcome.result !== 'caught') isWhole = false
      console.log(`${outcome.result.padEnd(8)}  ${mutation.name.padEnd(66)}  ${describe(outcome)}`)
    }
    return isWhole
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function describe(outcome: Outcome): string {
  switch (outcome.result) {
    case 'caught':
      return `after ${outcome.histories} by ${outcome.by}`
    case 'survived':
      return 'by every history'
    case 'broken':
      return outcome.output
  }
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
