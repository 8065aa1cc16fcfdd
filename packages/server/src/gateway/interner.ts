// User ids as small integers. An index is shared by all parts of this gateway that concern the user (sessions,
// viewers, watched targets) and lives as long as anything refers to it.
import { grown } from '../platform/typed-arrays.ts'

export interface Interner {
  /** The index of an id, taking a reference to it. */
  acquire(id: string): number
  /** Takes another reference to an index that is in use. */
  retain(index: number): void
  /** Gives a reference back; true when it was the last and the index is free for another user. */
  release(index: number): boolean
  /** -1 when nothing refers to the id. */
  find(id: string): number
  name(index: number): string
  size(): number
}

/** `onFree` is called when nothing refers to an index any more: tables by index drop their entry. */
export function createInterner(onFree: (index: number) => void = () => {}): Interner {
  const indexes = new Map<string, number>()
  const names: (string | undefined)[] = []
  const free: number[] = []
  let references = new Int32Array(0)

  return {
    acquire(id) {
      let index = indexes.get(id)
      if (index === undefined) {
        index = free.pop() ?? names.length
        names[index] = id
        indexes.set(id, index)
        references = grown(references, index + 1)
      }
      references[index]!++
      return index
    },
    retain(index) {
      references[index]!++
    },
    release(index) {
      if (--references[index]! > 0) return false
      indexes.delete(names[index]!)
      names[index] = undefined
      free.push(index)
      onFree(index)
      return true
    },
    find: (id) => indexes.get(id) ?? -1,
    name: (index) => names[index]!,
    size: () => indexes.size,
  }
}
