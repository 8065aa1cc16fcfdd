// Rows nobody waits for gather for a moment; whoever waits does not wait for that.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/fake-clock.ts'
import type { Archive, LastSeenRow } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createLogger } from '../../platform/logger.ts'
import { createArchivist } from './archivist.ts'

function rowOf(userId: string): LastSeenRow {
  const rest = { devices: [], shownCustomStatus: null, updatedAt: 1 }
  return { userId, lastSeenAt: 1, status: 'here', version: 1, ...rest }
}

async function createWorld() {
  const clock = createFakeClock(0)
  const archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const batches: string[][] = []
  const counted: Archive = {
    ...archive,
    writeLastSeen(rows) {
      batches.push(rows.map(({ userId }) => userId))
      return archive.writeLastSeen(rows)
    },
  }
  return { clock, batches, archivist: createArchivist(counted, clock, createLogger({ level: 'silent' })) }
}

test('[S4] a crowd that comes is one write, a moment later', async () => {
  const { archivist, batches, clock } = await createWorld()
  for (const userId of ['ann', 'bob', 'cy', 'bob']) archivist.lastSeenSoon(rowOf(userId))
  await clock.advance(4)
  expect(batches).toEqual([])
  await clock.advance(1)
  expect(batches).toEqual([['ann', 'cy', 'bob']])
  archivist.lastSeenSoon(rowOf('di'))
  await clock.advance(5)
  expect(batches.slice(1)).toEqual([['di']])
})

test('[S4] whoever must be safe before it is announced takes the others along at once', async () => {
  const { archivist, batches } = await createWorld()
  archivist.lastSeenSoon(rowOf('ann'))
  await archivist.lastSeen(rowOf('bob'))
  expect(batches).toEqual([['ann', 'bob']])
})

test('[S4] nothing that gathers is left behind when everything is to be written', async () => {
  const { archivist, batches } = await createWorld()
  archivist.lastSeenSoon(rowOf('ann'))
  await archivist.flush()
  expect(batches).toEqual([['ann']])
  expect(archivist.backlog()).toBe(0)
})

test('[S4] a row that comes in the very moment a write ends is written as well', async () => {
  // The moment is a few promises long, and which of them it is must not matter.
  for (let promises = 0; promises < 12; promises++) {
    const { archivist, batches } = await createWorld()
    await archivist.lastSeen(rowOf('ann'))
    for (let waited = 0; waited < promises; waited++) await null
    await archivist.lastSeen(rowOf('bob'))
    expect(batches).toEqual([['ann'], ['bob']])
  }
})
