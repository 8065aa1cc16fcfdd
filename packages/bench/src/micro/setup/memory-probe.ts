// The inside of the memory measurement: builds watch edges or targets and prints the bytes of each. A process
// of its own, in which nothing else grows.
import { heapStats } from 'bun:jsc'
import { createTargetTable } from '../../../../server/src/gateway/delivery/target-table.ts'
import { createWatchEdges } from '../../../../server/src/gateway/delivery/watch-edges.ts'
import { createInterner } from '../../../../server/src/gateway/interner.ts'
import { emptyRecord } from '../../../../server/src/presence/core/record.ts'
import { toPresence } from '../../../../server/src/presence/core/view.ts'

const WATCHERS = 2_048
const CONTACTS = 128
const TARGETS = 300_000
const SEEN_AT = 1_763_200_000_000

function edgeBytes(): number {
  const heapBytes = () => {
    Bun.gc(true)
    return heapStats().heapSize
  }
  const before = heapBytes()
  const edges = createWatchEdges()
  for (let from = 0; from < WATCHERS; from++) {
    for (let to = 0; to < CONTACTS; to++) edges.add(from, (from * 7 + to) % (2 * WATCHERS))
  }
  return (heapBytes() - before) / edges.count()
}

/** By resident memory: the heap statistics leave out the characters of strings. */
function targetBytes(): number {
  const residentBytes = () => {
    Bun.gc(true)
    return process.memoryUsage.rss()
  }
  // Ids and objects as they come over the bus: strings that nothing else holds.
  const copied = (text: string) => Buffer.from(text).toString()
  const before = residentBytes()
  const interner = createInterner()
  const targets = createTargetTable({ nameOf: interner.name, mask: (json) => json, now: () => 0 })
  for (let user = 0; user < TARGETS; user++) {
    const id = copied(`user-${user}`)
    const record = { ...emptyRecord(59_045_206), lastSeen: SEEN_AT }
    const presence = toPresence(id, { ...record, shown: { ...record.shown, lastSeen: SEEN_AT } })
    targets.update(interner.acquire(id), presence.version, copied(JSON.stringify(presence)), SEEN_AT)
  }
  return (residentBytes() - before) / interner.size()
}

console.log(process.argv[2] === 'edges' ? edgeBytes() : targetBytes())
