// `greendot backup` as operators use it: beside a server that writes, and with everything that can be wrong.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '../../../../testing/clients/cli.ts'
import { spawnServer } from '../../../../testing/clients/server.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'greendot-backup-'))
})
afterAll(() => rm(folder, { recursive: true }))

const run = (args: string[], cwd = folder) => runCli(args, { cwd })

function statusesIn(file: string): Map<string, string> {
  const database = new Database(file, { readonly: true })
  try {
    expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const rows = database.query<{ user_id: string; custom_text: string }, []>(
      'SELECT user_id, custom_text FROM user_settings',
    )
    return new Map(rows.all().map((row) => [row.user_id, row.custom_text]))
  } finally {
    database.close()
  }
}

describe('beside a server that writes', () => {
  test('[S4] has everything that was acknowledged before it, and a server starts from it', async () => {
    const server = await spawnServer()
    const write = async (userId: string, text: string, url = server.url) => {
      const answer = await fetch(`${url}/api/v1/users/${userId}/status`, {
        method: 'PUT',
        headers: { authorization: 'Bearer dev' },
        body: JSON.stringify({ text }),
      })
      expect(answer.status).toBe(200)
    }
    for (let user = 0; user < 50; user++) await write(`user-${user}`, 'before')

    let isRunning = true
    let written = 0
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      while (isRunning) await write(`user-${writer}`, `during ${written++}`)
    })
    const file = join(folder, 'busy.db')
    const database = `sqlite://${join(server.folder, 'greendot.db')}`
    const made = await run(['backup', file, '--database-url', database])
    isRunning = false
    await Promise.all(writers)
    await server.stop()

    expect(made).toEqual({
      code: 0,
      err: '',
      out: expect.stringMatching(/^\S+busy\.db: \d+ rows of \d+ tables in \d+ bytes, checked\n$/),
    })
    // It would prove little if no write had met it.
    expect(written).toBeGreaterThan(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const statuses = statusesIn(file)
    expect(statuses.size).toBe(50)
    for (let user = 4; user < 50; user++) expect(statuses.get(`user-${user}`)).toBe('before')
    for (let user = 0; user < 4; user++) expect(statuses.get(`user-${user}`)).toMatch(/^(before|during \d+)$/)

    const restored = await spawnServer({ database_url: `sqlite://${file}` })
    const answer = await fetch(`${restored.url}/api/v1/users/user-7/export`, {
      headers: { authorization: 'Bearer dev' },
    })
    expect(await answer.json()).toMatchObject({ presence: { custom_status: { text: 'before' } } })
    await restored.stop()
  })
})

describe('what is refused leaves no file', () => {
  const database = 'sqlite://own.db'
  beforeAll(async () => {
    expect((await run(['migrate', '--database-url', database])).code).toBe(0)
    writeFileSync(join(folder, 'taken.db'), 'precious')
    writeFileSync(join(folder, 'text.db'), 'this is no database, however long it is. '.repeat(100))
    new Database(join(folder, 'empty.db')).run('PRAGMA user_version = 1')
  })

  const refused: [string[], number, string][] = [
    [['taken.db', '--database-url', database], 1, 'taken.db exists already; nothing is overwritten'],
    [['gone/new.db', '--database-url', database], 1, 'the folder of gone/new.db does not exist'],
    [['new.db', '--database-url', 'sqlite://missing.db'], 1, 'there is no database at missing.db'],
    [['new.db', '--database-url', 'sqlite::memory:'], 1, 'there is no database at :memory:'],
    [['new.db', '--database-url', 'sqlite://text.db'], 1, 'file is not a database'],
    [['new.db', '--database-url', 'sqlite://empty.db'], 1, 'empty.db has no tables'],
    [['new.db', '--database-url', 'postgres://u:hush@h/n'], 1, 'pg_dump'],
    [['--database-url', database], 2, 'name the file'],
    [['new.db', 'other.db'], 2, 'name one file'],
    [['new.db', '--database-ur', database], 2, 'did you mean --database-url?'],
    [['new.db', `--database-ur=${database}`], 2, 'did you mean --database-url?'],
    [['new.db', '--database-url'], 2, '--database-url: needs a value'],
  ]
  test.each(refused)('[S4] backup %j', async (args, code, line) => {
    const before = readdirSync(folder).sort()
    const result = await run(['backup', ...args])
    expect(result).toEqual({ code, out: '', err: expect.stringMatching(/^greendot: [^\n]+\n$/) })
    expect(result.err).toContain(line)
    expect(result.err).not.toContain('hush')
    expect(readdirSync(folder).sort()).toEqual(before)
    expect(await Bun.file(join(folder, 'taken.db')).text()).toBe('precious')
  })

  const isRoot = process.getuid?.() === 0
  test.skipIf(isRoot)(
    `[S4] a folder without rights${isRoot ? ' (root may write anywhere)' : ''}`,
    async () => {
      const closed = await mkdtemp(join(folder, 'closed-'))
      await chmod(closed, 0o500)
      const result = await run(['backup', join(closed, 'new.db'), '--database-url', database])
      expect(result.err).toContain('cannot be written (EACCES)')
      expect(existsSync(join(closed, 'new.db'))).toBe(false)
    },
  )

  test('[S4] the file may stand before or after the settings', async () => {
    expect((await run(['backup', '--database-url', database, 'after.db'])).code).toBe(0)
    expect((await run(['backup', 'before.db', `--database-url=${database}`, '--dev'])).code).toBe(0)
    expect(statusesIn(join(folder, 'after.db')).size).toBe(0)
  })
})
