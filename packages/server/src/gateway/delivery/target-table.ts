// The newest state this gateway knows of every watched target, as text ready to send: a change is
// serialised once in each encoding that a watcher uses, however many viewers see it. What is ready to send is kept for the
// targets that changed last, and for those whose texts were made again last. Versions only go up, except
// that 0 ("nothing known") may replace anything.

import { createRecentMap } from '../../platform/recent-map.ts'
import { grown } from '../../platform/typed-arrays.ts'
import type { ViewLevel } from '../../presence/privacy/visibility.ts'
import { changeFrame, type Encoding, encoded } from './encodings.ts'
import { createObjectTexts, versionIn } from './object-texts.ts'

export interface TargetTable {
  /**
   * False when watchers need not be told: what is known already is newer or the same, or this is the same in a newer
   * version, as after the store lost the versions of all users. New watchers are shown the newer version.
   */
  update(target: number, version: number, json: string, at: number): boolean
  isKnown(target: number): boolean
  version(target: number): number
  json(target: number): string
  /** The version of that object. One that is known to be shown elsewhere may be newer (`version`). */
  objectVersion(target: number): number
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

/**
 * Targets whose texts are kept ready, in 1 MB of memory: what changes between two flushes at 20,000 changes a second. Where
 * more targets change in one flush interval, some texts are made more than once.
 */
const READY_MAX = 2_048

/** Approximate last seen moves at midnight (UTC), so a masked object is good for one day. */
const DAY_MS = 86_400_000

export interface TargetTableParts {
  nameOf(target: number): string
  /** The object as a viewer with this level gets it. */
  mask(json: string, level: ViewLevel): string
  now(): number
}

interface Masked {
  day: number
  byLevel: Partial<Record<ViewLevel, string>>
  compactByLevel: Partial<Record<ViewLevel, string>>
}

/** The object of a target as a viewer sees it who may see everything. All but the first are made when a watcher needs them. */
interface Ready {
  json: string
  compact: string | undefined
  frames: Record<Encoding, string | undefined>
}

export function createTargetTable({ nameOf, mask, now }: TargetTableParts): TargetTable {
  const objects = createObjectTexts(nameOf)
  const ready = createRecentMap<Ready, number>(READY_MAX)
  /** Only of targets that show less than everything to a viewer here. */
  const masked = new Map<number, Masked>()
  let versions = new Float64Array(0)
  let changedAts = new Float64Array(0)

  function makeReady(target: number, json: string): Ready {
    const made: Ready = { json, compact: undefined, frames: { json: undefined, compact: undefined } }
    ready.set(target, made)
    return made
  }

  const readyOf = (target: number) => ready.get(target) ?? makeReady(target, objects.get(target))

  function forget(target: number): void {
    objects.forget(target)
    ready.delete(target)
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
    if (level === 'everything') return readyOf(target).json
    const { byLevel } = maskedOf(target)
    byLevel[level] ??= mask(readyOf(target).json, level)
    return byLevel[level]
  }

  function compactFor(target: number, level: ViewLevel): string {
    if (level === 'everything') {
      const texts = readyOf(target)
      texts.compact ??= encoded(texts.json, 'compact')
      return texts.compact
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
      const shown = objects.has(target) ? objects.version(target) : null
      const isNewestShown = shown === versions[target]
      if (shown !== null) {
        // A client was shown this version (see `objectVersion`), and only now it is known what it is.
        const isAwaited = version === versions[target] && shown > 0 && shown < version
        const isOld = version === 0 ? versions[target] === 0 : version <= versions[target]! && !isAwaited
        if (isOld) return false
      }
      versions[target] = version
      // A user with nothing to show is the same object in every version.
      if (shown === versionIn(json) && objects.get(target) === json) return false
      const isNew = objects.put(target, json)
      makeReady(target, json)
      masked.delete(target)
      if (!isNew && isNewestShown && shown > 0 && version > 0) return false
      changedAts[target] = at
      return true
    },
    isKnown: objects.has,
    version: (target) => versions[target]!,
    json: (target) => readyOf(target).json,
    objectVersion: objects.version,
    jsonFor,
    textFor,
    frame(target, encoding) {
      const { frames } = readyOf(target)
      frames[encoding] ??= changeFrame([textFor(target, 'everything', encoding)], encoding)
      return frames[encoding]
    },
    changedAt: (target) => changedAts[target]!,
    forget,
  }
}
