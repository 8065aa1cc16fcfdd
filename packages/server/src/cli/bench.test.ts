// The commands that run @greendot/bench: with the package, without it, and through the real program.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '../platform/clock.ts'
import { forwardingCommand } from './bench.ts'

const folder = mkdtempSync(join(tmpdir(), 'greendot-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

const CLI = resolve(import.meta.dir, '../cli.ts')

async function run(places: readonly string[], ...argv: string[]) {
  const said: string[] = []
  const code = await forwardingCommand('capacity', 'a summary', ['capacity'], places).run(argv, {
    env: {},
    readFile: () => null,
    clock: systemClock,
    print: (line) => void said.push(line),
    complain: (line) => void said.push(line),
  })
  return { code: code as number, said }
}

/** A package of that name whose program is this script. */
function install(script: string): string {
  const place = mkdtempSync(join(folder, 'installed-'))
  const home = join(place, 'node_modules/@greendot/bench')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{"bin":{"greendot-bench":"start.ts"}}')
  writeFileSync(join(home, 'start.ts'), script)
  return place
}

describe('[X7] the commands that run the benchmark', () => {
  test('without the package, one line says how to get it', async () => {
    const problem =
      '"greendot capacity" is in @greendot/bench, which is not installed here: ' +
      'clone the repository, and there: npm install && npm run greendot -- capacity'
    expect(await run([folder])).toEqual({ code: 2, said: [problem] })
  })

  test('the program gets the arguments, and its exit code is passed on', async () => {
    const heard = join(folder, 'heard.json')
    const place = install(
      `await Bun.write(${JSON.stringify(heard)}, JSON.stringify(process.argv.slice(2))); process.exit(7)`,
    )
    expect(await run([folder, place], '--users', 'a b')).toEqual({ code: 7, said: [] })
    expect(JSON.parse(readFileSync(heard, 'utf8'))).toEqual(['capacity', '--users', 'a b'])
  })

  test('a signal to the command reaches the program', async () => {
    const script = `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('up')`
    const start = `const { forwardingCommand } = await import(${JSON.stringify(join(import.meta.dir, 'bench.ts'))})
      process.exit(await forwardingCommand('bench', '', [], [${JSON.stringify(install(script))}]).run([], {}))`
    const child = Bun.spawn([process.execPath, '-e', start], { stdio: ['ignore', 'pipe', 'inherit'] })
    for await (const chunk of child.stdout) if (new TextDecoder().decode(chunk).includes('up')) break
    child.kill('SIGTERM')
    expect(await child.exited).toBe(9)
  })

  test('"greendot bench" and "greendot capacity" reach the benchmark of this repository', async () => {
    const spawn = (...argv: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, CLI, ...argv], { cwd: folder })
      return { exitCode, out: stdout.toString(), err: stderr.toString() }
    }
    expect(spawn('bench', 'chrun')).toMatchObject({ exitCode: 2, err: expect.stringContaining('"chrun"') })
    expect(spawn('capacity', '--users', '1000')).toMatchObject({
      exitCode: 0,
      err: '',
      out: expect.stringContaining('1,000 '),
    })
  })
})
