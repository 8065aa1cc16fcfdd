// Seeds that found something once, with what it was. They stay, so that it is found again should it come back.

export interface NamedSeed {
  seed: number
  found: string
}

export const NAMED_SEEDS: readonly NamedSeed[] = [
  { seed: 5828, found: 'a state from the archive was shown with the version of the whole state' },
  { seed: 6426, found: 'a later commit cleared the duty of a process that had died' },
  { seed: 17, found: 'a failed batch was repeated with a tick before gateways had announced themselves' },
]
