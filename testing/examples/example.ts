// Runs an example as its README says, on a copy that talks to the server of the test instead of the one of
// `npm start`. The commands are those of the README.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blocksOf, ROOT } from '../docs/docs-text.ts'
import { fromHere } from '../docs/snippet-program.ts'
import { linesOf } from '../services/lines.ts'
import { WAIT_MS, within } from '../services/within.ts'

export const EXAMPLES = readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

export interface RunningExample {
  /** The first line, printed already or later, that is accepted and was not returned before. */
  says(line: string | RegExp): Promise<string>
  type(line: string): void
  /** Sends SIGINT, as Ctrl+C does, and resolves with its exit code. */
  interrupt(): Promise<number>
  /** Ends it in any case, and removes the copy. */
  stop(): Promise<void>
}

/** The shell lines of a document, in order. */
export const shellLines = (path: string): string[] =>
  blocksOf(path, 'sh').flatMap(({ text }) => text.trim().split('\n'))

/** The command that starts it. */
export const commandOf = (name: string): string => shellLines(`examples/${name}/README.md`)[0]!

export interface ExampleOptions {
  env?: Record<string, string>
  /** Bundled and run by this program, instead of as the README says. */
  runtime?: string
}

export async function startExample(
  name: string,
  serverUrl: string,
  { env = {}, runtime }: ExampleOptions = {},
): Promise<RunningExample> {
  const folder = copyFor(name, { url: serverUrl })
  const [npx, bun, path] = commandOf(name).split(' ')
  if (npx !== 'npx' || bun !== 'bun') throw new Error(`examples/${name}: the command is not npx bun …`)
  const cmd = runtime ? [runtime, await bundled(join(folder, path!))] : [process.execPath, path!]
  const child = Bun.spawn(cmd, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, PORT: '0', ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = linesOf(child.stdout)
  return {
    says: (expected) => within(WAIT_MS, `${name} to say ${expected}`, nextLine(lines, expected)),
    type(line) {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
    },
    interrupt() {
      child.kill('SIGINT')
      return within(WAIT_MS, `the end of ${name}`, child.exited)
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One file for a runtime that has no TypeScript. */
async function bundled(path: string): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [path], target: 'node', format: 'esm' })
  const bundle = path.replace(/\.ts$/, '.mjs')
  await Bun.write(bundle, await outputs[0]!.text())
  return bundle
}

function copyFor(name: string, server: { url: string }): string {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-example-'))
  const copy = join(folder, 'examples', name)
  cpSync(join(ROOT, 'examples', name), copy, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const file of readdirSync(copy)) {
    const path = join(copy, file)
    writeFileSync(path, fromHere(readFileSync(path, 'utf8'), server))
  }
  return folder
}

async function nextLine(lines: AsyncIterator<string>, expected: string | RegExp): Promise<string> {
  for (;;) {
    const { value, done } = await lines.next()
    if (done) throw new Error(`it ended before it said ${expected}`)
    if (typeof expected === 'string' ? value === expected : expected.test(value)) return value
  }
}
