// The flags of the runtime, as the kernel reports them for a running server. Only Linux shows the environment of a
// process.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { RUNTIME_FLAGS } from '../platform/runtime-flags.ts'

const CLI = resolve(import.meta.dir, '../cli.ts')
const SERVE = ['serve', '--dev', '--port=0', '--database-url=sqlite::memory:']
const folder = mkdtempSync(join(tmpdir(), 'greendot-flags-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts a server, hands over its process id once it is ready, and ends it in order. */
async function whileServing(env: Record<string, string>, use: (pid: number) => void): Promise<number> {
  const child = Bun.spawn([process.execPath, CLI, ...SERVE], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    for await (const chunk of child.stdout)
      if (new TextDecoder().decode(chunk).includes('greendot ready')) break
    use(child.pid)
  } finally {
    child.kill('SIGTERM')
  }
  return child.exited
}

function flagsOf(pid: number): Record<string, string> {
  const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  const flags = variables.filter((line) => line.split('=', 1)[0]! in RUNTIME_FLAGS)
  return Object.fromEntries(flags.map((line) => line.split('=', 2) as [string, string]))
}

const isLinux = process.platform === 'linux'
const note = isLinux ? '' : ' (skipped: only Linux shows the environment of a process)'

describe.skipIf(!isLinux)(`the flags of the runtime${note}`, () => {
  test('[C9, X9] a server has them without being told, in the process that was started', async () => {
    const code = await whileServing({}, (pid) => expect(flagsOf(pid)).toEqual(RUNTIME_FLAGS))
    expect(code).toBe(0)
  })

  test('[C9] a value that is set already is kept', async () => {
    const mine = { BUN_JSC_thresholdForFTLOptimizeSoon: '1000' }
    await whileServing(mine, (pid) => expect(flagsOf(pid)).toEqual({ ...RUNTIME_FLAGS, ...mine }))
  })
})
