// What a peer is: another kind of server that can do the same work. The benchmark starts it, measures it
// through the wire of the same name, and stops it.
import type { Scope } from '../platform/scope.ts'
import type { Subject } from '../subject/subject.ts'
import type { PeerProcess } from './peer-process.ts'
import { descendants } from './process-tree.ts'

export interface PeerOptions {
  /** `contacts[user]` are the users that user watches. */
  contacts: readonly ArrayLike<number>[]
  /** The core the server runs on, or null to let it roam. */
  core: number | null
  /** What the tokens of the users are signed with (HS256). */
  secret: string
}

export interface Peer {
  /** Also the name of its wire. */
  name: string
  /** The name in tables. */
  title: string
  /** Why it cannot be measured here, as a sentence; null when it can. */
  findReason(): string | null
  /** The version that is measured. */
  version(): string
  /** Whatever it starts is in the scope from then on, so that nothing outlives an interrupted start. */
  start(options: PeerOptions, scope: Scope): Promise<Subject>
}

/** A peer that runs, as the scenarios want it. All descendants of its process belong to it. */
export function runningPeer(
  { name, title }: Pick<Peer, 'name' | 'title'>,
  server: PeerProcess,
  address: { port: number; secret: string; claims?: Record<string, string> },
): Subject {
  const { port, secret, claims = {} } = address
  return {
    title,
    target: { wire: name, host: '127.0.0.1', port, secret, claims, extra: {} },
    pids: () => [server.pid, ...descendants(server.pid)],
    metric: async () => null,
    backend: null,
    restart: null,
    stop: server.stop,
  }
}
