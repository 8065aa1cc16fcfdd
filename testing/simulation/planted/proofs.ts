// For each check a bug that it notices within a few hundred seeds: a check that cannot fail proves nothing.
import type { Check } from './planted.ts'

export const PROOFS: Readonly<Record<Check, string>> = {
  agreement: 'choices are not read back',
  ghost: 'sessions live three times as long as their time to live',
  'false offline': 'the end of a lease is rounded down to two seconds',
  flicker: 'commits do not compare revisions',
  status: 'choices are not read back',
  version: 'a message that comes again late is taken as new',
  choice: 'a choice is acknowledged before it is written',
  archived: 'departures are not written',
  relayed: 'a commit is not put into the change log',
  leftover: 'interest is never given up',
  process: 'a gateway that ends waits for ever until its lease is given up',
  privacy: 'every user is a contact of every other',
}

/**
 * Seeds that are tried first, because most seeds do not notice this bug. If one stops noticing it, the seeds from 1 on are
 * tried.
 */
export const LIKELY_SEEDS: Partial<Record<Check, number>> = { choice: 118 }
