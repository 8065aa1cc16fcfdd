// A tidy rule about the rooms of the random fault runs: a file imports from its own room and from rooms earlier in
// the list, types included. So checks and faults do not know what runs them.
import { importsOf, isScript, type Problem, type TreeFile } from './tree.ts'

const RANDOM = 'testing/faults/random/'

/** From the bottom to the top, with what each holds. */
const ROOMS = [
  'deployment', // servers, store and the times they are set to
  'history', // what happened, and what follows from it
  'plan', // from a seed to users, actions and faults
  'clients', // devices, users, viewers and requests
  'faults', // breaks the store, the archive and the servers
  'checks', // the promises, each held against the history
  'run', // puts the rooms together: a world, a seed, a script, many seeds
]

export function randomRoomDirection(files: readonly TreeFile[]): Problem[] {
  return files
    .filter((file) => file.path.startsWith(RANDOM) && isScript(file))
    .flatMap((file) => {
      const room = roomOf(file.path)
      if (room === -1)
        return [{ path: file.path, line: 1, what: 'is in no room: add it to testing/tidy/random-rooms.ts' }]
      return importsOf(file).flatMap(({ target, line, specifier }) => {
        if (!target?.startsWith(RANDOM) || roomOf(target) <= room) return []
        const what = `imports ${specifier}: ${ROOMS[room]}/ is below ${ROOMS[roomOf(target)]}/`
        return [{ path: file.path, line, what }]
      })
    })
}

const roomOf = (path: string): number => ROOMS.indexOf(path.slice(RANDOM.length).split('/')[0]!)
