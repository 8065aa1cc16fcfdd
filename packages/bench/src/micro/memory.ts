// What watching takes in a gateway, in bytes: an edge from a watcher to somebody watched, and somebody
// watched, however many watch them. Each is measured in a process of its own, where nothing else grows.
import { constantReading, type Micro } from './measure.ts'

const SERVER = `${import.meta.dir}/../../../server/src`

const EDGES = `
  const { createWatchIndex } = await import('${SERVER}/gateway/watch-index.ts')
  const before = bytes()
  const index = createWatchIndex(() => {})
  for (let from = 0; from < 2048; from++) {
    for (let to = 0; to < 128; to++) index.watch(from, (from * 7 + to) % 4096)
  }
  console.log((bytes() - before) / index.edges())`

// Ids and objects as they come over the bus: strings of their own, which nothing else holds.
const WATCHED = `
  const { createInterner } = await import('${SERVER}/gateway/interner.ts')
  const { createTargetTable } = await import('${SERVER}/gateway/target-table.ts')
  const { toPresence } = await import('${SERVER}/presence/view.ts')
  const { emptyRecord } = await import('${SERVER}/presence/record.ts')
  const own = (text) => Buffer.from(text).toString()
  const PEOPLE = 300_000
  const before = residentBytes()
  const interner = createInterner()
  const targets = createTargetTable({ mask: (json) => json, now: () => 0 })
  for (let user = 0; user < PEOPLE; user++) {
    const id = own('user-' + user)
    const record = { ...emptyRecord(59045206), lastSeen: 1763200000000 }
    const presence = toPresence(id, { ...record, shown: { ...record.shown, lastSeen: 1763200000000 } })
    targets.update(interner.acquire(id), presence.version, own(JSON.stringify(presence)), 1763200000000)
  }
  console.log((residentBytes() - before) / interner.size())`

// What the heap says of itself leaves out where strings keep their characters, so those go by the pages
// that the kernel gave.
const BYTES = `
  const { heapStats } = require('bun:jsc')
  function bytes() {
    Bun.gc(true)
    return heapStats().heapSize
  }
  function residentBytes() {
    Bun.gc(true)
    return process.memoryUsage.rss()
  }`

async function bytesOf(script: string): Promise<number> {
  const child = Bun.spawnSync([process.execPath, '-e', BYTES + script])
  const bytes = Number(child.stdout.toString())
  if (child.exitCode !== 0 || !(bytes > 0)) throw new Error(child.stderr.toString())
  return bytes
}

export const memory: Micro = {
  name: 'memory',
  about: 'bytes per watch edge and per person watched in a gateway',
  missing: () => null,
  run: async () => [
    constantReading('watch edge', 'bytes', await bytesOf(EDGES), 'edge_bytes'),
    constantReading('person watched', 'bytes', await bytesOf(WATCHED), 'watched_bytes'),
  ],
}
