// The graph of watchers and targets. It is a pure function of its description, so every load process
// computes it. No user watches itself or a target twice, and all have the same number of contacts; graphs
// differ in how the watchers are distributed.
import { createRandom, shuffled } from '../platform/random.ts'

export const GRAPHS = ['ring', 'random', 'power-law', 'star'] as const
export type GraphKind = (typeof GRAPHS)[number]

export interface GraphSpec {
  kind: GraphKind
  users: number
  contacts: number
  seed: number
}

export interface Graph {
  users: number
  /** Pairs of a watcher and a contact. */
  edges: number
  contactsOf(user: number): Int32Array
  /** The number of watchers of each user. */
  watchers: Int32Array
}

/** The steepness of the power law; near what follower counts of social networks show. */
const POWER = 0.8
const TRIES_MAX = 20

export function makeGraph(spec: GraphSpec): Graph {
  const { users } = spec
  const contacts = Math.min(spec.kind === 'star' ? 1 : spec.contacts, users - 1)
  const edges = new Int32Array(users * contacts)
  const offsets = new Int32Array(users + 1)
  const choose = chooserOf(spec, contacts)
  let used = 0
  for (let user = 0; user < users; user++) {
    used += choose(user, edges.subarray(used, used + contacts))
    offsets[user + 1] = used
  }
  const watchers = new Int32Array(users)
  for (let edge = 0; edge < used; edge++) watchers[edges[edge]!]!++
  return {
    users,
    edges: used,
    watchers,
    contactsOf: (user) => edges.subarray(offsets[user], offsets[user + 1]),
  }
}

/** Writes the contacts of a user and returns how many they are. */
type Chooser = (user: number, into: Int32Array) => number

function chooserOf({ kind, users, seed }: GraphSpec, contacts: number): Chooser {
  const random = createRandom(seed)
  switch (kind) {
    case 'ring':
      return (user, into) => {
        // On both sides: with an even number of contacts, watching is mutual.
        for (let step = 0; step < contacts; step++) {
          const distance = (step >> 1) + 1
          into[step] = (user + (step % 2 === 0 ? distance : users - distance)) % users
        }
        return contacts
      }
    case 'random':
      return (user, into) => chooseDistinct(user, into, users, () => Math.floor(random() * users))
    case 'power-law': {
      const byRank = shuffled(users, random)
      // The inverse of the distribution function of rank^-POWER, taken as continuous.
      const pick = () => byRank[Math.floor(users * random() ** (1 / (1 - POWER)))]!
      return (user, into) => chooseDistinct(user, into, users, pick)
    }
    case 'star':
      return (user, into) => {
        if (user === 0 || contacts === 0) return 0
        into[0] = 0
        return 1
      }
  }
}

function chooseDistinct(user: number, into: Int32Array, users: number, pick: () => number): number {
  const taken = new Set([user])
  for (let slot = 0; slot < into.length; slot++) {
    let chosen = pick()
    for (let tries = 0; taken.has(chosen) && tries < TRIES_MAX; tries++) chosen = pick()
    // With few users and many contacts random picks rarely hit the last ones: take the next free one.
    while (taken.has(chosen)) chosen = (chosen + 1) % users
    taken.add(chosen)
    into[slot] = chosen
  }
  return into.length
}
