// The newest thing this gateway knows of every user somebody here watches, as bytes ready to send:
// a change is serialised once, however many people see it. Versions only go up, except that 0
// ("nothing known") may replace anything.
import { grown } from '../../platform/typed-arrays.ts'
import type { Sight } from '../../presence/privacy/visibility.ts'

export interface TargetTable {
  /** False when what is known already is newer or the same. */
  update(target: number, version: number, json: string, at: number): boolean
  isKnown(target: number): boolean
  version(target: number): number
  json(target: number): string
  /** As much of it as somebody may see. */
  seen(target: number, sight: Sight): string
  /** A whole `presence_change` frame with this one change, made once and shared by all watchers. */
  frame(target: number): string
  changedAt(target: number): number
  forget(target: number): void
}

export const CHANGE_FRAME_START = '{"type":"presence_change","changes":['
export const FRAME_LIST_END = ']}'

/** Whether an object is the one of people who are hidden or unknown; its version comes last. */
export const isNothingKnown = (json: string): boolean => json.endsWith(',"version":0}')

/** Buckets of last seen are of whole days: for so long a masked object is the same whoever asks for it. */
const DAY_MS = 86_400_000

export interface TargetTableParts {
  /** Takes from the object what a sight leaves out. */
  mask(json: string, sight: Sight): string
  now(): number
}

interface Masked {
  day: number
  bySight: Partial<Record<Sight, string>>
}

export function createTargetTable({ mask, now }: TargetTableParts): TargetTable {
  /** Only of people who show less than everything to somebody here. */
  const masked = new Map<number, Masked>()
  const jsons: (string | undefined)[] = []
  const frames: (string | undefined)[] = []
  let versions = new Float64Array(0)
  let changedAts = new Float64Array(0)

  return {
    update(target, version, json, at) {
      versions = grown(versions, target + 1)
      changedAts = grown(changedAts, target + 1)
      if (jsons[target] !== undefined) {
        if (version === 0 ? versions[target] === 0 : version <= versions[target]!) return false
      }
      versions[target] = version
      // Of somebody with nothing to show every version is the same object, and none is news.
      if (jsons[target] === json) return false
      changedAts[target] = at
      jsons[target] = json
      frames[target] = undefined
      masked.delete(target)
      return true
    },
    isKnown: (target) => jsons[target] !== undefined,
    version: (target) => versions[target]!,
    json: (target) => jsons[target]!,
    seen(target, sight) {
      const json = jsons[target]!
      if (sight === 'everything') return json
      let made = masked.get(target)
      const day = Math.floor(now() / DAY_MS)
      if (made === undefined || made.day !== day) {
        made = { day, bySight: {} }
        masked.set(target, made)
      }
      made.bySight[sight] ??= mask(json, sight)
      return made.bySight[sight]
    },
    frame(target) {
      let frame = frames[target]
      if (frame === undefined) {
        frame = CHANGE_FRAME_START + jsons[target] + FRAME_LIST_END
        frames[target] = frame
      }
      return frame
    },
    changedAt: (target) => changedAts[target]!,
    forget(target) {
      jsons[target] = undefined
      frames[target] = undefined
      masked.delete(target)
    },
  }
}
