// One database file and the programs on it: a second server is refused, commands work beside the first.
import { afterEach, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { runCli } from '../../../../testing/clients/cli.ts'
import { spawnServer, type TestProcess } from '../../../../testing/clients/server.ts'

const servers: TestProcess[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

async function server(folder?: string): Promise<TestProcess> {
  const started = await spawnServer({}, folder)
  servers.push(started)
  return started
}

const run = ({ folder }: TestProcess, ...args: string[]) =>
  runCli([...args, `--database-url=sqlite://${join(folder, 'greendot.db')}`], { cwd: folder })

const isServed = async ({ url }: TestProcess) => (await fetch(`${url}/readyz`)).ok

test('[C7] a second server is refused with one line, and starts once the first was killed', async () => {
  const first = await server()
  const { code, out, err } = await run(first, 'serve', '--dev', '--port=0')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(
    /^greendot: Cannot open the SQLite database ".+" for writing: another server runs on it; stop that one, .+\n$/,
  )
  expect(await isServed(first)).toBe(true)
  await first.kill()
  expect(await isServed(await server(first.folder))).toBe(true)
})

test('[C7] doctor, migrate, backup and explain work beside a server', async () => {
  const first = await server()
  const doctor = await run(first, 'doctor', '--dev', '--port=0')
  expect(doctor.code).toBe(0)
  expect(doctor.out).toContain('schema is up to date')
  expect(doctor.out).toContain('ok    database files: ')
  expect(await run(first, 'migrate')).toMatchObject({ code: 0, out: 'the schema is up to date\n' })
  expect(await run(first, 'backup', 'copy.db')).toMatchObject({ code: 0, err: '' })
  expect(await run(first, 'explain', '--user=bob', `--url=${first.url}`)).toMatchObject({ code: 0 })
  expect(await isServed(first)).toBe(true)
})

test('[S4] the doctor warns of a database that other users of the machine can read', async () => {
  const first = await server()
  const file = join(first.folder, 'greendot.db')
  chmodSync(file, 0o644)
  const { code, out } = await run(first, 'doctor', '--dev', '--port=0')
  expect(code).toBe(0)
  expect(out).toMatch(/^warn {2}database files: other users .+; chmod 600 \S+greendot\.db$/m)
})
