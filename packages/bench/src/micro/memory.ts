// The memory that watching takes in a gateway, in bytes: an edge from a watcher to a target, and a target,
// however many watchers it has. Each is measured by memory-probe.ts in a process of its own.
import { join } from 'node:path'
import { constantReading, type Micro } from './measure.ts'

const PROBE = join(import.meta.dir, 'setup/memory-probe.ts')

function bytesOf(kind: 'edges' | 'targets'): number {
  const child = Bun.spawnSync([process.execPath, PROBE, kind])
  const bytes = Number(child.stdout.toString())
  if (child.exitCode !== 0 || !(bytes > 0)) throw new Error(child.stderr.toString())
  return bytes
}

export const memory: Micro = {
  name: 'memory',
  about: 'bytes per watch edge and per target in a gateway',
  missing: () => null,
  run: async () => [
    constantReading('watch edge', 'bytes', bytesOf('edges'), 'edge_bytes'),
    constantReading('target', 'bytes', bytesOf('targets'), 'watched_bytes'),
  ],
}
