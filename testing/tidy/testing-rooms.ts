// A tidy rule about the rooms of the random fault runs and of the simulation: a file imports from its own room and from
// rooms earlier in the list, types included. So checks and faults do not know what runs them.
import { importsOf, isScript, type Problem, type TreeFile } from './tree.ts'

/** From the bottom to the top, with what each holds. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'testing/faults/random/': [
    'deployment', // servers, store and the times they are set to
    'history', // what happened, and what follows from it
    'plan', // from a seed to users, actions and faults
    'clients', // devices, users, viewers and requests
    'faults', // breaks the store, the archive and the servers
    'checks', // the promises, each held against the history
    'run', // puts the rooms together: a world, a seed, a script, many seeds
  ],
  'testing/simulation/': [
    'time', // virtual time, chance, the network and the machines
    'adapters', // the simulated Redis and database
    'world', // settings, processes and the deployment
    'clients', // devices, users, viewers and requests
    'checker', // the bounds, and what is held against them
    'faults', // which faults there are, and how they are caused
    'run', // from a seed to a plan, and from a plan to what it broke
    'shrink', // makes a plan that fails smaller
    'planted', // bugs that must be caught
    'cli', // many seeds, replay, reports
  ],
}

export function testingRoomDirection(files: readonly TreeFile[]): Problem[] {
  return Object.entries(ROOMS).flatMap(([folder, rooms]) =>
    files
      .filter((file) => file.path.startsWith(folder) && isScript(file))
      .flatMap((file) => problemsOf(file, folder, rooms)),
  )
}

function problemsOf(file: TreeFile, folder: string, rooms: readonly string[]): Problem[] {
  const roomOf = (path: string): number => rooms.indexOf(path.slice(folder.length).split('/')[0]!)
  const room = roomOf(file.path)
  if (room === -1)
    return [{ path: file.path, line: 1, what: 'is in no room: add it to testing/tidy/testing-rooms.ts' }]
  return importsOf(file).flatMap(({ target, line, specifier }) => {
    if (!target?.startsWith(folder) || roomOf(target) <= room) return []
    const what = `imports ${specifier}: ${rooms[room]}/ is below ${rooms[roomOf(target)]}/`
    return [{ path: file.path, line, what }]
  })
}
