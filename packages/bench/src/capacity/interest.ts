// On how many gateways somebody is watched: balls in bins. A person has `contacts` who may watch; each is
// online with probability `online`, and then has `devices` connections, each on a gateway by chance.

/** The expected number of different gateways with at least one connection that watches a person. */
export function expectedGateways(
  gateways: number,
  { contacts, online, devices }: { contacts: number; online: number; devices: number },
): number {
  if (gateways < 1) throw new RangeError('there is at least one gateway')
  if (contacts === 0) return 0
  // One contact leaves a given gateway alone when they are offline, or all their connections are elsewhere.
  const reached = online * -Math.expm1(devices * Math.log1p(-1 / gateways))
  // With a single gateway log1p(-1) is -∞, and whoever is online is there: reached is `online`.
  return gateways * -Math.expm1(contacts * Math.log1p(-reached))
}

/** How many frames a second a connection gets that `changesPerSecond` concern, in windows of one flush. */
export function framesPerSecond(changesPerSecond: number, flushMs: number): number {
  const seconds = flushMs / 1000
  return -Math.expm1(-changesPerSecond * seconds) / seconds
}
