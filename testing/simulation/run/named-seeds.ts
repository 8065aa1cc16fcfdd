// Seeds that found something once, with what it was. They stay, so that it is found again should it come back.

export interface NamedSeed {
  seed: number
  found: string
}

export const NAMED_SEEDS: readonly NamedSeed[] = [
  { seed: 10, found: 'a machine with a wrong clock dated the loss of a shard' },
  { seed: 46, found: 'the row of a user who left during a loss of memory said that they are here' },
  { seed: 175, found: 'an answer without the store ignored what was chosen by hand' },
  { seed: 575, found: 'versions went back when the clock was set back before a restart' },
  { seed: 1_308, found: 'a choice cleared the duty to write an earlier row' },
  { seed: 5_828, found: 'a state from the archive had the version of the whole state' },
  { seed: 6_426, found: 'a later commit cleared the duty of a process that had died' },
  { seed: 40_882, found: 'a refused change of privacy that came late won over a confirmed one' },
  { seed: 51_510, found: 'a choice was lost in a failover whose user had left' },
  { seed: 60_048, found: 'a user who became invisible during a loss of memory stayed here in the archive' },
  { seed: 81_140, found: 'a viewer kept a version that a failover had lost' },
  { seed: 100_386, found: 'the archive had a newer version than the store, and ignored later rows' },
]
