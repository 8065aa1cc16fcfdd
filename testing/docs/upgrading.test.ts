// Keeps docs/upgrading.md true: its commands are run, as they are written, against a real PostgreSQL, and what it says
// about mixed versions is tried.
import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { decodePayload } from '../../packages/server/src/bus/redis-frames.ts'
import { COMMANDS } from '../../packages/server/src/cli/commands.ts'
import { connect } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { newFolder, removeFolder } from '../services/child.ts'
import { describeWithService } from '../services/describe.ts'
import { findPostgres, startPostgres } from '../services/postgres.ts'
import { blocksOf, documentOf, ROOT } from './docs-text.ts'

const PATH = 'docs/upgrading.md'
const shells = Array.from(documentOf(PATH).matchAll(/^ *```sh\n *(.*)\n *```$/gm), ([, line]) => line!)
const found = await findPostgres()
const folder = newFolder('upgrading')
afterAll(() => removeFolder(folder))

/** Runs the one block that names the command. */
async function runBlock(command: string, databaseUrl: string): Promise<string> {
  const [line, ...others] = shells.filter((one) => one.includes(command))
  expect([line !== undefined, others]).toEqual([true, []])
  const programs = found.state === 'found' ? found.path : ''
  const child = Bun.spawn(['sh', '-e', '-c', line!.replaceAll('greendot.dump', `${folder}/greendot.dump`)], {
    cwd: ROOT,
    env: {
      PATH: `${programs}:${process.env.PATH}`,
      HOME: process.env.HOME ?? folder,
      GREENDOT_DATABASE_URL: databaseUrl,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([child.stdout, child.stderr].map((one) => new Response(one).text()))
  if ((await child.exited) !== 0) throw new Error(`${line}: ${err}${out}`)
  return out!
}

async function setText(server: TestServer, text: string): Promise<void> {
  const alice = await connect(server.url, 'alice')
  alice.send({ type: 'set_custom_status', text, ref: 1 })
  await alice.next('ok')
  alice.send({ type: 'leave' })
  await alice.closed
}

async function textOf(server: TestServer): Promise<unknown> {
  const alice = await connect(server.url, 'alice')
  alice.close()
  return alice.welcome.self.custom_status?.text
}

describe(PATH, () => {
  test('[X9] names commands that exist', () => {
    const named = Array.from(documentOf(PATH).matchAll(/`greendot ([a-z]+)/g), ([, name]) => name!)
    expect(named).toContain('migrate')
    const known = COMMANDS.map(({ name }) => name)
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })

  test('[X2, C7] a message of a later version counts as a gap', () => {
    expect(decodePayload('a mark of a later version\nalice\n1')).toEqual({ kind: 'gap' })
  })

  test('no shell block is left out', () => {
    expect(shells.length).toBe(3)
    expect(blocksOf(PATH, 'sh').length).toBe(2)
  })
})

describeWithService('docs/upgrading.md with PostgreSQL', found, startPostgres, (postgres) => {
  test('[S4] migrates, backs up while the server runs, and restores', async () => {
    const database_url = postgres().url
    expect(await runBlock('greendot -- migrate', database_url)).toContain('applied 0001')
    const first = await startServer({ database_url })
    await setText(first, 'kept')
    await runBlock('pg_dump', database_url)
    await setText(first, 'lost')
    await first.stop()
    await runBlock('pg_restore', database_url)
    const second = await startServer({ database_url })
    expect(await textOf(second)).toBe('kept')
    await second.stop()
  })

  test('[X2] a process leaves steps of a later version alone', async () => {
    const database_url = postgres().url
    const sql = new SQL(database_url, { max: 1 })
    await sql`INSERT INTO schema_migration (name, applied_at) VALUES ('9999_later', 0)`
    await sql`ALTER TABLE user_settings ADD COLUMN later TEXT`
    const server = await startServer({ database_url })
    await setText(server, 'written by an older process')
    expect(await textOf(server)).toBe('written by an older process')
    await server.stop()
    const rows = await sql`SELECT name FROM schema_migration WHERE name = '9999_later'`
    expect(rows).toHaveLength(1)
    await sql.close()
  })
})
