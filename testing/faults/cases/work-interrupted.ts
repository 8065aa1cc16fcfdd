// Work that a commit leaves to be done: its publication, and its row. A process that dies in between leaves it to a
// sweeper, and a table that is locked delays no departure.
import { lockTable } from '../random/faults/archive-faults.ts'
import { cause, move, scripted } from '../random/run/scripted.ts'

const KILLS = 5
const WRITES = 16
const LOCK_MS = 8_000
const LOCKED_MS = 500

export const killedBeforePublication = scripted({
  name: 'servers are killed between commit and publication',
  expectation: 'every committed change reaches every watcher, at the latest by the sweep of open duties',
  async run(world) {
    for (let kill = 0; kill < KILLS; kill++) {
      const first = (kill * WRITES) % world.people.length
      const writers = Array.from(
        { length: WRITES },
        (_, n) => world.people[(first + n) % world.people.length]!,
      )
      for (const [n, person] of writers.entries())
        person.act({ do: 'choose', field: 'text', value: `text ${kill} ${n}`, via: 'http' })
      // Each kill comes a little later, so that one of them hits the instant.
      await Bun.sleep(kill * 4)
      await cause(world, 'server killed', 0, kill)
      await Promise.all(writers.map((person) => person.settled()))
    }
    return []
  },
})

export const departuresWhileLocked = scripted({
  name: 'a table of PostgreSQL is locked while many leave',
  expectation: 'departures are shown as fast as without the lock',
  async run(world) {
    // Not recorded as a fault, so the bounds are those of a healthy deployment.
    world.history.remark('user_last_seen is locked')
    const locked = lockTable(world.databaseUrl, 'user_last_seen', LOCK_MS)
    await Bun.sleep(LOCKED_MS)
    move(world, (index) => index % 4 === 0, 'left')
    move(world, (index) => index % 4 === 1, 'closed')
    await locked
    world.history.remark('user_last_seen is free')
    return []
  },
})
