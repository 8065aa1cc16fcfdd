// The newest state this gateway knows of every watched target, as text ready to send: a change is
// serialised once in each encoding that a watcher uses, however many viewers see it. Versions only go up, except
// that 0 ("nothing known") may replace anything.
import { grown } from '../../platform/typed-arrays.ts'
import type { ViewLevel } from '../../presence/privacy/visibility.ts'
import { changeFrame, type Encoding, encoded } from './encodings.ts'

export interface TargetTable {
  /** False when what is known already is newer or the same. */
  update(target: number, version: number, json: string, at: number): boolean
  isKnown(target: number): boolean
  version(target: number): number
  json(target: number): string
  /** As much of it as a viewer with this level may see. */
  jsonFor(target: number, level: ViewLevel): string
  /** The same in this encoding. */
  textFor(target: number, level: ViewLevel, encoding: Encoding): string
  /** A whole `presence_change` frame with this one change, made once and shared by all watchers. */
  frame(target: number, encoding: Encoding): string
  changedAt(target: number): number
  forget(target: number): void
}

/** Whether this is the object of a hidden or unknown user. The version is its last field. */
export const isNothingKnown = (json: string): boolean => json.endsWith(',"version":0}')

/** The version of the object. What is known to be shown elsewhere may be newer (`version` of the table). */
export const versionIn = (json: string): number => Number(json.slice(json.lastIndexOf(':') + 1, -1))

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
  compactByLevel: Partial<Record<ViewLevel, string>>
}

export function createTargetTable({ mask, now }: TargetTableParts): TargetTable {
  /** Only of targets that show less than everything to a viewer here. */
  const masked = new Map<number, Masked>()
  const jsons: (string | undefined)[] = []
  /** Made when a watcher first needs them. */
  const compacts: (string | undefined)[] = []
  const frames: Record<Encoding, (string | undefined)[]> = { json: [], compact: [] }
  let versions = new Float64Array(0)
  let changedAts = new Float64Array(0)

  /** Also frees what was made from the state before. */
  function put(target: number, json: string | undefined): void {
    jsons[target] = json
    compacts[target] = undefined
    frames.json[target] = undefined
    frames.compact[target] = undefined
    masked.delete(target)
  }

  function maskedOf(target: number): Masked {
    const day = Math.floor(now() / DAY_MS)
    let made = masked.get(target)
    if (made === undefined || made.day !== day) {
      made = { day, byLevel: {}, compactByLevel: {} }
      masked.set(target, made)
    }
    return made
  }

  function jsonFor(target: number, level: ViewLevel): string {
    const json = jsons[target]!
    if (level === 'everything') return json
    const { byLevel } = maskedOf(target)
    byLevel[level] ??= mask(json, level)
    return byLevel[level]
  }

  function compactFor(target: number, level: ViewLevel): string {
    if (level === 'everything') {
      compacts[target] ??= encoded(jsons[target]!, 'compact')
      return compacts[target]
    }
    const json = jsonFor(target, level)
    const { compactByLevel } = maskedOf(target)
    compactByLevel[level] ??= encoded(json, 'compact')
    return compactByLevel[level]
  }

  const textFor = (target: number, level: ViewLevel, encoding: Encoding) =>
    encoding === 'compact' ? compactFor(target, level) : jsonFor(target, level)

  return {
    update(target, version, json, at) {
      versions = grown(versions, target + 1)
      changedAts = grown(changedAts, target + 1)
      const known = jsons[target]
      if (known !== undefined) {
        // A client was shown this version (see `versionIn`), and only now it is known what it is.
        const isAwaited = version === versions[target] && versionIn(known) > 0 && versionIn(known) < version
        const isOld = version === 0 ? versions[target] === 0 : version <= versions[target]! && !isAwaited
        if (isOld) return false
      }
      versions[target] = version
      // A user with nothing to show is the same object in every version.
      if (jsons[target] === json) return false
      changedAts[target] = at
      put(target, json)
      return true
    },
    isKnown: (target) => jsons[target] !== undefined,
    version: (target) => versions[target]!,
    json: (target) => jsons[target]!,
    jsonFor,
    textFor,
    frame(target, encoding) {
      const made = frames[encoding]
      made[target] ??= changeFrame([textFor(target, 'everything', encoding)], encoding)
      return made[target]
    },
    changedAt: (target) => changedAts[target]!,
    forget: (target) => put(target, undefined),
  }
}
