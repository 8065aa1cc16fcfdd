// The newest state this gateway knows of every watched target, as bytes ready to send: a change is
// serialised once, however many viewers see it. Versions only go up, except that 0 ("nothing known") may
// replace anything.
import { grown } from '../../platform/typed-arrays.ts'
import type { ViewLevel } from '../../presence/privacy/visibility.ts'

export interface TargetTable {
  /** False when what is known already is newer or the same. */
  update(target: number, version: number, json: string, at: number): boolean
  isKnown(target: number): boolean
  version(target: number): number
  json(target: number): string
  /** As much of it as a viewer with this level may see. */
  jsonFor(target: number, level: ViewLevel): string
  /** A whole `presence_change` frame with this one change, made once and shared by all watchers. */
  frame(target: number): string
  changedAt(target: number): number
  forget(target: number): void
}

export const CHANGE_FRAME_START = '{"type":"presence_change","changes":['
export const FRAME_LIST_END = ']}'

/** Whether this is the object of a hidden or unknown user. The version is its last field. */
export const isNothingKnown = (json: string): boolean => json.endsWith(',"version":0}')

/** Approximate last seen moves at midnight (UTC), so a masked object is good for one day. */
const DAY_MS = 86_400_000

export interface TargetTableParts {
  /** The object as a viewer with this level gets it. */
  mask(json: string, level: ViewLevel): string
  now(): number
}

interface Masked {
  day: number
  byLevel: Partial<Record<ViewLevel, string>>
}

export function createTargetTable({ mask, now }: TargetTableParts): TargetTable {
  /** Only of targets that show less than everything to a viewer here. */
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
      // A user with nothing to show is the same object in every version.
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
    jsonFor(target, level) {
      const json = jsons[target]!
      if (level === 'everything') return json
      let made = masked.get(target)
      const day = Math.floor(now() / DAY_MS)
      if (made === undefined || made.day !== day) {
        made = { day, byLevel: {} }
        masked.set(target, made)
      }
      made.byLevel[level] ??= mask(json, level)
      return made.byLevel[level]
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
