// The archive contract on PostgreSQL, and what only a server can show: it goes away, falls silent,
// comes back, is used by several processes at once, and needs a password that is never printed.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { archiveContract } from '../../../../testing/contracts/archive.ts'
import { describeWithService } from '../../../../testing/services/describe.ts'
import { findPostgres, startPostgres } from '../../../../testing/services/postgres.ts'
import { until, WAIT_MS } from '../../../../testing/services/within.ts'
import { systemClock } from '../platform/clock.ts'
import type { Archive, LastSeenRow } from './port.ts'
import { createPostgresArchive, openPostgres } from './postgres.ts'
import { CALLS_WAITING_MAX, LONG_STATEMENT_MS_MAX, STATEMENT_MS_MAX } from './postgres-pool.ts'
import type { SqlDatabase } from './sql/database.ts'
import { MIGRATIONS } from './sql/migrations.ts'

const T = 1_700_000_000_000

/** On it a second is over in ten milliseconds. */
const hastyClock = { ...systemClock, elapsed: () => systemClock.elapsed() * 100 }

function aRow(userId: string, version = 1): LastSeenRow {
  return {
    userId,
    lastSeenAt: T,
    status: 'offline',
    devices: [],
    version,
    shownCustomStatus: null,
    updatedAt: T,
  }
}

/** What it rejected with. */
async function expectFailure(call: Promise<unknown>): Promise<Error> {
  const outcome = await call.then(
    () => 'resolved',
    (error: Error) => error,
  )
  expect(outcome).toBeInstanceOf(Error)
  return outcome as Error
}

const backendPid = async (database: SqlDatabase): Promise<number> =>
  (await database.read<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]!.pid

const setting = async (name: string, read: SqlDatabase['read']): Promise<string> =>
  (await read<{ value: string }>(`SELECT current_setting('${name}') AS value`))[0]!.value

describeWithService('PostgreSQL', await findPostgres(), startPostgres, (server) => {
  const open = async (options: { poolMax?: number } = {}) =>
    openPostgres({ url: await server().newSchema(), clock: systemClock, ...options })

  const migrated = async (): Promise<Archive> => {
    const archive = await createPostgresArchive({ url: await server().newSchema() })
    await archive.migrate()
    return archive
  }

  archiveContract('PostgreSQL', async () => createPostgresArchive({ url: await server().newSchema() }), {
    propertyRuns: 40,
  })

  test('[S4] what was written survives a kill -9 of the server, and calls work again once it is back', async () => {
    const archive = await migrated()
    await archive.writeLastSeen([aRow('a')])
    await server().kill('SIGKILL')
    const failures = await Promise.all(
      [archive.ping(), archive.read(['a']), archive.writeLastSeen([aRow('b')]), archive.markAlive(T)].map(
        expectFailure,
      ),
    )
    for (const failure of failures) expect(failure.message).toStartWith('PostgreSQL at 127.0.0.1:')

    await server().restart()
    const [a, b] = await archive.read(['a', 'b'])
    expect(a?.lastSeen).toEqual(aRow('a'))
    expect(b?.lastSeen).toBeNull()
    await archive.writeLastSeen([aRow('b')])
    expect((await archive.read(['b']))[0]?.lastSeen).toEqual(aRow('b'))
    await archive.close()
  })

  test('[C7] a server that falls silent rejects every call that waits', async () => {
    const archive = await migrated()
    const late = await createPostgresArchive({ url: await server().newSchema(), poolMax: 1 })
    const calls = (): Promise<unknown>[] => [
      archive.ping(),
      archive.read(['a']),
      archive.writeLastSeen([aRow('a')]),
      // The second of these waits for the connection of the first.
      late.ping(),
      late.ping(),
    ]
    await server().pause()
    try {
      for (const failure of await Promise.all(calls().map(expectFailure))) {
        expect(failure.message).toContain('the server does not answer')
      }
      // Nor do new connections help.
      await expectFailure(late.ping())
    } finally {
      await server().resume()
    }
    // An attempt to connect that began before may still fail; the next one does not.
    await until(WAIT_MS, 'the recovery', () =>
      late.ping().then(
        () => true,
        () => false,
      ),
    )
    await Promise.all(calls())
    await Promise.all([archive.close(), late.close()])
  })

  test('[C7] a statement that takes its time is waited for while the server lives', async () => {
    const database = await open()
    expect(await database.read<{ a: number }>('SELECT 1 AS a FROM pg_sleep(2.2)')).toEqual([{ a: 1 }])
    await database.close()
  })

  test('[C7] no statement lasts forever: the server ends it, and we do if it cannot', async () => {
    const database = await open()
    const inTransaction = (isLong: boolean) =>
      database.transaction(({ rows }) => setting('statement_timeout', rows), { isLong })
    expect(await setting('statement_timeout', database.read)).toBe(`${STATEMENT_MS_MAX / 1000}s`)
    expect(await setting('idle_in_transaction_session_timeout', database.read)).toBe('30s')
    expect(await inTransaction(false)).toBe(`${STATEMENT_MS_MAX / 1000}s`)
    expect(await inTransaction(true)).toBe(`${LONG_STATEMENT_MS_MAX / 60_000}min`)
    expect(await inTransaction(false)).toBe(`${STATEMENT_MS_MAX / 1000}s`)
    await database.close()
  })

  test('[C7] a connection that is lost without a word is given up, and another one opened', async () => {
    const database = await openPostgres({ url: await server().newSchema(), poolMax: 1, clock: hastyClock })
    const pid = await backendPid(database)
    process.kill(pid, 'SIGSTOP')
    try {
      const failure = await expectFailure(database.read('SELECT 1'))
      expect(failure.message).toContain('no answer within 12 s')
      expect(await backendPid(database)).not.toBe(pid)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await database.close()
  })

  /** A transaction that keeps its connection until it is told to let go. */
  async function holdConnection(database: SqlDatabase): Promise<() => Promise<void>> {
    const held = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    const holding = database.transaction(() => {
      entered.resolve()
      return held.promise
    })
    await entered.promise
    return () => {
      held.resolve()
      return holding
    }
  }

  test('[C7] a call does not wait forever for a connection', async () => {
    const database = await openPostgres({ url: await server().newSchema(), poolMax: 1, clock: hastyClock })
    const letGo = await holdConnection(database)
    const failure = await expectFailure(database.read('SELECT 1'))
    expect(failure.message).toContain('no free connection within 10 s')
    await letGo()
    await database.read('SELECT 1')
    await database.close()
  })

  test('[C7] only so many calls may wait for a connection', async () => {
    const database = await open({ poolMax: 1 })
    const letGo = await holdConnection(database)
    const waiting = Array.from({ length: CALLS_WAITING_MAX }, () => database.read('SELECT 1'))
    const refused = await expectFailure(database.read('SELECT 1'))
    expect(refused.message).toContain(`${CALLS_WAITING_MAX} calls already wait`)
    await Promise.all([letGo(), ...waiting])
    await database.read('SELECT 1')
    await database.close()
  })

  test('[C7] no more connections than allowed, by the option or the URL', async () => {
    const counting = await open()
    /** Opens as many as it may and asks for more; returns how many the server then has. */
    const connections = async (database: SqlDatabase, name: string, max: number) => {
      const held = await Promise.all(Array.from({ length: max }, () => holdConnection(database)))
      const waiting = Promise.all(Array.from({ length: 20 }, () => database.read('SELECT 1')))
      const [row] = await counting.read<{ n: number }>(
        'SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1',
        [name],
      )
      await Promise.all(held.map((letGo) => letGo()))
      await waiting
      await database.close()
      return row?.n
    }
    const url = await server().newSchema()
    const named = (name: string, max?: number) =>
      `${url}&application_name=${name}${max === undefined ? '' : `&max=${max}`}`
    const clock = systemClock
    expect(await connections(await openPostgres({ url: named('default'), clock }), 'default', 8)).toBe(8)
    expect(await connections(await openPostgres({ url: named('url', 3), clock }), 'url', 3)).toBe(3)
    const both = await openPostgres({ url: named('both', 3), poolMax: 2, clock })
    expect(await connections(both, 'both', 2)).toBe(2)
    await counting.close()
  })

  test('[S4] several processes migrate at once: each step is applied once, and all go on', async () => {
    const url = await server().newSchema()
    const source = `
      import { createPostgresArchive } from ${JSON.stringify(join(import.meta.dir, 'postgres.ts'))}
      const archive = await createPostgresArchive({ url: ${JSON.stringify(url)} })
      const applied = await archive.migrate()
      await archive.markAlive(${T})
      await archive.close()
      console.log(JSON.stringify(applied))`
    const applied = await Promise.all(
      Array.from({ length: 4 }, async (): Promise<string[]> => {
        const child = Bun.spawn({
          cmd: [process.execPath, '-e', source],
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        return new Response(child.stdout).json()
      }),
    )
    expect(applied.flat()).toEqual(MIGRATIONS.map(({ name }) => name))
  })

  test('[S4] writers of the same users wait for each other, and the newest version stays', async () => {
    const url = await server().newSchema()
    const archives = await Promise.all([1, 2, 3].map(() => createPostgresArchive({ url })))
    await archives[0]!.migrate()
    const ids = Array.from({ length: 400 }, (_, index) => `user-${index}`)
    await Promise.all(
      [5, 7, 6, 9, 8, 4].map((version, index) => {
        const order = index % 2 === 0 ? ids : ids.toReversed()
        return archives[index % 3]!.writeLastSeen(order.map((id) => aRow(id, version)))
      }),
    )
    const read = await archives[0]!.read(ids)
    expect(read.every((user) => user.lastSeen?.version === 9)).toBe(true)
    await Promise.all(archives.map((archive) => archive.close()))
  })

  test('[S4] a transaction that throws leaves nothing behind, nor does one that hides a failure', async () => {
    const database = await open()
    await database.transaction((tx) => tx.run('CREATE TABLE t (a INT)'))
    const insert = (after: () => Promise<unknown>) =>
      database.transaction(async (tx) => {
        await tx.run('INSERT INTO t VALUES (1)')
        await after()
      })
    await expect(insert(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const hiding = database.transaction(async (tx) => {
      await tx.run('INSERT INTO t VALUES (1)')
      await tx.run('NONSENSE').catch(() => {})
    })
    await expect(hiding).rejects.toThrow('rolled the transaction back')
    expect(await database.read('SELECT * FROM t')).toEqual([])
    await insert(() => Promise.resolve())
    expect(await database.read('SELECT * FROM t')).toHaveLength(1)
    await database.close()
  })

  test('[C7] closing waits for the calls that are under way and refuses later ones', async () => {
    const database = await open()
    const order: string[] = []
    const letGo = await holdConnection(database)
    const closing = database.close().then(() => order.push('closed'))
    expect((await expectFailure(database.read('SELECT 1'))).message).toContain('closed')
    const committing = letGo().then(() => order.push('committed'))
    await Promise.all([committing, closing])
    expect(order).toEqual(['committed', 'closed'])
  })

  test('[C2] the database is the one in the URL, whatever the environment says', async () => {
    process.env.PGDATABASE = 'elsewhere'
    try {
      await (await createPostgresArchive({ url: server().url })).close()
    } finally {
      delete process.env.PGDATABASE
    }
  })

  test('[C2] a database that cannot hold every text is refused', async () => {
    const database = await open()
    await database.read("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    await database.close()
    const url = server().url.replace(/\/\w+$/, '/latin')
    await expect(createPostgresArchive({ url })).rejects.toThrow("create it with ENCODING 'UTF8'")
  })

  test('[C6] sslmode is respected', async () => {
    const url = await server().newSchema()
    const failure = await expectFailure(createPostgresArchive({ url: `${url}&sslmode=require` }))
    expect(failure).toMatchObject({ code: 'ERR_POSTGRES_TLS_NOT_AVAILABLE' })
    await (await createPostgresArchive({ url: `${url}&sslmode=prefer` })).close()
  })

  test('[C6] no failure repeats the password', async () => {
    const secret = 'p@ss w%rd/secret'
    const guarded = await startPostgres({ password: secret })
    await (await createPostgresArchive({ url: guarded.url })).close()
    const { host } = new URL(guarded.url)
    const encoded = encodeURIComponent(secret)
    const login = `postgres://greendot:${encoded}`
    const wrong: [string, string][] = [
      ['password authentication failed', `${login}x@${host}/postgres`],
      ['"(secret)" does not exist', `${login}@${host}/${encoded}`],
      ['Failed to connect', `${login}@127.0.0.1:1/postgres`],
      ['not well formed', `${login}@:nowhere/postgres`],
      ['sslmode', `${login}@${host}/postgres?sslmode=sometimes`],
    ]
    for (const [reason, url] of wrong) {
      const failure = await expectFailure(createPostgresArchive({ url }))
      const everything = Bun.inspect(failure, { depth: 10 })
      expect(everything).not.toContain(secret)
      expect(everything).not.toContain(encoded)
      expect(failure.message).toContain(reason)
    }
    await guarded.stop()
  })
})
