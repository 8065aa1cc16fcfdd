// The two sides that must agree in the end: what is true of a user, and what a watcher or a server shows of the user.
import type { Sighting, Target } from './history.ts'

export interface Truth {
  target: Target
  isPresent: boolean
  isActive: boolean
}

export type Shown = Pick<Sighting, 'viewer' | 'status' | 'text' | 'deviceCount' | 'version'> & { by: string }
