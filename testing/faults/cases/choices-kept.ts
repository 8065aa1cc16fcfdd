// PostgreSQL and Redis fail together. What users chose is not known for a while: privacy fails closed, and choices
// that were acknowledged are back when PostgreSQL is.
import { request } from '../random/clients/requests.ts'
import { cause, move, scripted } from '../random/run/scripted.ts'
import type { World } from '../random/run/world.ts'

const ARCHIVE_AWAY_MS = 8_000
const BETWEEN_MS = 1_000
const ASK_EVERY_MS = 300

const isInvisible = (index: number): boolean => index % 3 === 0
const hasText = (index: number): boolean => index % 3 === 1
const isHidden = (index: number): boolean => index % 3 === 2

function choicesOf(index: number) {
  if (isInvisible(index)) return [{ field: 'availability' as const, value: 'invisible' }]
  if (hasText(index)) return [{ field: 'text' as const, value: `text of u${index}` }]
  return [{ field: 'visibility' as const, value: 'nobody' }]
}

export const archiveStoppedThenFlushed = scripted({
  name: 'PostgreSQL stops, then Redis is flushed',
  expectation: 'invisible and hidden users are never shown; acknowledged texts are back with PostgreSQL',
  choicesOf,
  async run(world) {
    const away = cause(world, 'archive stopped', ARCHIVE_AWAY_MS)
    await Bun.sleep(BETWEEN_MS)
    await cause(world, 'store flushed')
    // Half of the users come again while their choices cannot be read, and new viewers see them come.
    for (const viewer of world.viewers.slice(-3)) world.enter(viewer)
    for (const device of world.devices.filter((_, index) => index % 2 === 0)) device.reconnect()
    await Bun.sleep(BETWEEN_MS)
    await cause(world, 'mass reconnect')
    await away
    return []
  },
})

export const flushedThenArchiveStopped = scripted({
  name: 'Redis is flushed, then PostgreSQL stops',
  expectation: 'users hidden from everyone are never shown; their settings are 503, never the default',
  choicesOf,
  async run(world) {
    // Users who are away are in PostgreSQL only, once Redis is empty.
    move(world, (index) => index % 2 === 0, 'left')
    await Bun.sleep(BETWEEN_MS)
    await cause(world, 'store flushed')
    await Bun.sleep(2 * BETWEEN_MS)
    const away = cause(world, 'archive stopped', ARCHIVE_AWAY_MS)
    await Bun.sleep(BETWEEN_MS)
    move(world, (index) => index % 2 === 0, 'here')
    for (const viewer of world.viewers.slice(-3)) world.enter(viewer)
    await cause(world, 'mass reconnect')
    const wrong = await wrongSettings(world, away)
    return wrong.slice(0, 3)
  },
})

/** Answers about hidden users that are neither `nobody` nor unavailable, until PostgreSQL is back. */
async function wrongSettings(world: World, archiveAway: Promise<void>): Promise<string[]> {
  const wrong: string[] = []
  let isAway = true
  void archiveAway.then(() => {
    isAway = false
  })
  const hidden = world.people.filter((_, index) => isHidden(index)).map(({ target }) => target.id)
  while (isAway) {
    for (const { name, process } of world.servers.running()) {
      await Promise.all(
        hidden.map(async (id) => {
          const response = await request(`${process.url}/api/v1/users/${id}/settings`, 'GET', 'dev')
          const body = await response.text()
          const isRight = response.status === 503 || body.includes('"status_visibility":"nobody"')
          if (!isRight) wrong.push(`${name} answered ${response.status} for the settings of ${id}: ${body}`)
        }),
      )
    }
    await Bun.sleep(ASK_EVERY_MS)
  }
  return wrong
}
