// The newest thing this gateway knows of every user somebody here watches, as bytes ready to send:
// a change is serialised once, however many people see it. Versions only go up, except that 0
// ("nothing known") may replace anything.
import { grown } from '../platform/typed-arrays.ts'

export interface TargetTable {
  /** False when what is known already is newer or the same. */
  update(target: number, version: number, json: string, at: number): boolean
  isKnown(target: number): boolean
  version(target: number): number
  json(target: number): string
  /** A whole `presence_change` frame with this one change, made once and shared by all watchers. */
  frame(target: number): string
  changedAt(target: number): number
  forget(target: number): void
}

export const CHANGE_FRAME_START = '{"type":"presence_change","changes":['
export const FRAME_LIST_END = ']}'

export function createTargetTable(): TargetTable {
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
      changedAts[target] = at
      jsons[target] = json
      frames[target] = undefined
      return true
    },
    isKnown: (target) => jsons[target] !== undefined,
    version: (target) => versions[target]!,
    json: (target) => jsons[target]!,
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
    },
  }
}
