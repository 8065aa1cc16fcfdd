// Kill -9 after an erasure has begun, on one server with a SQLite file. A trigger in the file makes the database
// fail in the middle of the erasure. After the restart the user is unknown, and the erasure goes on by itself.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { until, WAIT_MS } from '../services/within.ts'
import { appearance, erase, liveFully, rowsThatMention } from './erased-person.ts'
import { useScene } from './scene.ts'

const scene = useScene()
const DAN = 'dan-q7x'
const QUIET = { log_level: 'silent', offline_delay_ms: 0 }

function alter(folder: string, statement: string): void {
  using database = new Database(join(folder, 'greendot.db'))
  database.run('PRAGMA busy_timeout = 10000')
  database.run(statement)
}

/** From now on deletes of the table fail, as on a full disk. */
const block = (folder: string, table: string) =>
  alter(
    folder,
    `CREATE TRIGGER held BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, 'no erasing now'); END`,
  )
const unblock = (folder: string) => alter(folder, 'DROP TRIGGER held')

const expectUnknown = async (url: string) =>
  expect(await appearance(url, DAN)).toEqual(await appearance(url, 'never-q7x'))

// The tables that an erasure deletes from, from the first to the last.
test.each(['user_last_seen', 'contact', 'user_erasure'])(
  '[X6] [C7] an erasure that failed at %s is not undone by kill -9, and is finished after the restart',
  async (table) => {
    const first = await scene.process(QUIET)
    await liveFully(scene, first.url, DAN)
    block(first.folder, table)
    expect((await erase(first.url, DAN)).status).toBe(503)
    await first.kill()
    expect(rowsThatMention(first, DAN)).not.toEqual([])

    const second = await scene.process(QUIET, first.folder)
    await expectUnknown(second.url)
    // Killed again, and again nothing was done yet.
    await second.kill()
    const third = await scene.process(QUIET, first.folder)
    await expectUnknown(third.url)
    unblock(first.folder)
    await until(WAIT_MS, 'the end of the erasure', async () => rowsThatMention(first, DAN).length === 0)
    await expectUnknown(third.url)
    const back = await scene.person(third.url, DAN)
    expect(back.welcome.self).toMatchObject({ status: 'online', custom_status: null })
  },
)
