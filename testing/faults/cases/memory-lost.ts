// The store loses what it knows, in whole or in part, while users stay connected. Nothing that it does not know is
// taken as a departure, versions go on, and all agree again.
import { cause, scripted } from '../random/run/scripted.ts'

const PAUSE_MS = 1_000
const EMPTY_AFTER_MS = 1_500
const RECONNECT_EVERY_MS = 250
const RECONNECTS = 24
const FLUSHES = 6
const ACT_EVERY_MS = 10

const textsOf = (index: number) =>
  index % 2 === 0 ? [{ field: 'text' as const, value: `text of u${index}` }] : []

export const oneMasterEmptied = scripted({
  name: 'one master of a Redis Cluster is emptied',
  expectation: 'no connection breaks, and all watchers agree again',
  store: 'cluster',
  choicesOf: textsOf,
  async run(world) {
    for (const master of [0, 1]) {
      await cause(world, 'one master flushed', 0, master)
      await Bun.sleep(PAUSE_MS)
      for (const person of world.people.filter((_, index) => index % 5 === master))
        person.act({ do: 'end', device: 0, how: 'closed' })
      await Bun.sleep(PAUSE_MS)
    }
    return []
  },
})

export const redisBackEmpty = scripted({
  name: 'Redis is back empty, and new watchers come',
  expectation: 'connected users are not said to be offline, unless the answer is marked as degraded',
  choicesOf: textsOf,
  async run(world) {
    const emptied = cause(world, 'store restarted empty', EMPTY_AFTER_MS)
    await Bun.sleep(PAUSE_MS)
    for (const viewer of world.viewers.slice(-3)) {
      world.enter(viewer)
      await Bun.sleep(PAUSE_MS)
    }
    await emptied
    return []
  },
})

export const versionsWhileHealing = scripted({
  name: 'watchers reconnect while Redis heals',
  expectation: 'versions never go backwards for a watcher that resumes with what it knows',
  choicesOf: textsOf,
  async run(world) {
    const emptied = [
      cause(world, 'store flushed'),
      Bun.sleep(RECONNECT_EVERY_MS * 12).then(() => cause(world, 'store restarted empty', EMPTY_AFTER_MS)),
    ]
    for (let round = 0; round < RECONNECTS; round++) {
      world.viewers[round % 3]!.peer.reconnect()
      const person = world.people[round * 2]!
      person.act({ do: 'choose', field: 'text', value: `text ${round}`, via: 'http' })
      await Bun.sleep(RECONNECT_EVERY_MS)
    }
    await Promise.all(emptied)
    return []
  },
})

export const actsAfterFlush = scripted({
  name: 'users act right after Redis is flushed',
  expectation: 'what they do is shown, and never as a departure of those who stay connected',
  choicesOf: textsOf,
  async run(world) {
    // Gateways announce themselves one after the other, so it takes several rounds to act between two of them.
    for (let round = 0; round < FLUSHES; round++) {
      await cause(world, 'store flushed')
      for (const [index, person] of world.people.entries()) {
        await Bun.sleep(ACT_EVERY_MS)
        const kind = (index + round) % 4
        const value = `text ${round} of u${index}`
        if (kind === 0) person.act({ do: 'choose', field: 'text', value, via: 'http' })
        else if (kind === 1) person.act({ do: 'choose', field: 'text', value, via: 'socket' })
        else if (kind === 2)
          person.act({ do: 'activity', device: 0, activity: round % 2 ? 'active' : 'idle' })
        // These have two devices, so they stay when one of them comes and goes.
        else if (index % 2 === 1) person.act({ do: 'end', device: 1, how: 'left' })
      }
      await Bun.sleep(PAUSE_MS)
    }
    return []
  },
})
