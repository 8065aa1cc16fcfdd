// For each check a bug that it notices, and a seed in which it does: a check that cannot fail proves nothing. Seeds are found
// with `npm run test:simulation -- --planted`.
import type { Check } from './planted.ts'

export const PROOFS: Readonly<Record<Check, { bug: string; seed: number }>> = {
  agreement: { bug: 'choices are not read back', seed: 3 },
  ghost: { bug: 'sessions live three times as long as their time to live', seed: 1 },
  'false offline': { bug: 'the end of a lease is rounded down to two seconds', seed: 1 },
  flicker: { bug: 'commits do not compare revisions', seed: 4 },
  status: { bug: 'choices are not read back', seed: 8 },
  version: { bug: 'a message that comes again late is taken as new', seed: 2 },
  choice: { bug: 'a choice is acknowledged before it is written', seed: 118 },
  archived: { bug: 'departures are not written', seed: 1 },
  relayed: { bug: 'a commit is not put into the change log', seed: 1 },
  leftover: { bug: 'interest is never given up', seed: 1 },
  process: { bug: 'a gateway that ends waits for ever until its lease is given up', seed: 1 },
  privacy: { bug: 'every user is a contact of every other', seed: 1 },
}
