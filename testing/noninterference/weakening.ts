// A server with one defect. The world puts its server together from parts; a weakening replaces some of them
// by parts that break a rule, through the same interface. A weakening that no history notices is a hole in
// the tests.
import type { Archive } from '../../packages/server/src/archive/port.ts'
import type { Bus } from '../../packages/server/src/bus/port.ts'
import type { PollLimit } from '../../packages/server/src/http/poll-limit.ts'
import type { Announcer } from '../../packages/server/src/presence/pipeline/announcer.ts'
import type { Evaluator } from '../../packages/server/src/presence/privacy/evaluator.ts'
import type { Relations } from '../../packages/server/src/presence/privacy/relations.ts'
import type { ViewerReader } from '../../packages/server/src/presence/reading/viewer-reader.ts'

/** The parts that can be replaced, each before any other part is given it. */
export interface Parts {
  archive: Archive
  bus: Bus
  announcer: Announcer
  evaluator: Evaluator
  relations: Relations
  viewerReader: ViewerReader
  pollLimit: PollLimit
}

export type Weaken = { readonly [Part in keyof Parts]?: (part: Parts[Part]) => Parts[Part] }

export interface Weakening {
  /** What is true of the weakened server. */
  name: string
  /** The rules it breaks, by their ids. */
  breaks: string
  /** Makes new parts every time, because some remember what they have seen. */
  weaken(): Weaken
}

/** The server as it is. */
export const SOUND: Weakening = { name: 'as it is', breaks: 'nothing', weaken: () => ({}) }

export type Weakened = <Name extends keyof Parts>(name: Name, part: Parts[Name]) => Parts[Name]

export function weakenedBy(weakening: Weakening): Weakened {
  const weaken = weakening.weaken()
  return (name, part) => weaken[name]?.(part) ?? part
}
