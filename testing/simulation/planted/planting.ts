// A server with one bug. A bug is planted through an interface: a wrapped port, a replaced script of the store, a replaced
// part. A bug that no seed catches is a hole in the checks.
import type { Planting } from '../world/ground.ts'

export interface Planted {
  /** What is true of the server with the bug. */
  name: string
  /** The bounds of SPEC.md that it breaks. */
  breaks: string
  /** It takes more than a few seeds. */
  isRare?: true
  /** Makes new parts every time, because some remember what they have seen. */
  plant(): Planting
}
