// On how many gateways a user is watched: balls in bins. A user has `contacts` watchers; each is online with
// probability `online`, and then has `devices` connections, each on a random gateway.

/** The expected number of different gateways with at least one connection that watches a user. */
export function expectedGateways(
  gateways: number,
  { contacts, online, devices }: { contacts: number; online: number; devices: number },
): number {
  if (gateways < 1) throw new RangeError('there is at least one gateway')
  if (contacts === 0) return 0
  // A contact is not on a given gateway when offline, or when all its connections are elsewhere.
  const reached = online * -Math.expm1(devices * Math.log1p(-1 / gateways))
  // With a single gateway log1p(-1) is -∞, and every online contact is there: reached is `online`.
  return gateways * -Math.expm1(contacts * Math.log1p(-reached))
}

/** Frames a second of a connection with so many changes a second, one frame a flush. */
export function framesPerSecond(changesPerSecond: number, flushMs: number): number {
  const seconds = flushMs / 1000
  return -Math.expm1(-changesPerSecond * seconds) / seconds
}
