// Source addresses for the load. All of 127.0.0.0/8 leads here, and every address has ports of its own: the
// kernel looks for a free one at every connect, and where many are taken, or were a minute ago, it looks
// long. So an address serves a few thousand connections, and no run takes those of the run before.

const PER_ADDRESS = 2_000
/** More than a load process of 18,000 connections needs, with reconnects. */
const PER_PROCESS = 64
const ADDRESSES = 1 << 20

/** Where a run that starts at this instant begins to count. */
export function firstAddress(startedAt: number, process: number): number {
  return (Math.floor(startedAt / 1000) * PER_PROCESS * 8 + process * PER_PROCESS) % ADDRESSES
}

export function addressAt(number: number): string {
  const within = number % ADDRESSES
  return `127.${1 + (within >> 16)}.${(within >> 8) & 255}.${1 + ((within & 255) % 254)}`
}

/** Gives an address for each connection. */
export function createAddresses(first: number): () => string {
  let given = 0
  return () => addressAt(first + (Math.floor(given++ / PER_ADDRESS) % PER_PROCESS))
}
