// How the consumers of a group share partitions. Each has a quota by its place in the list of live consumers; the
// quotas differ by one at most and add up to all partitions. Which partitions they are is not said: a consumer keeps
// what it has up to its quota, so that few partitions move when a consumer comes or goes.

export function quotaOf(place: number, consumerCount: number, partitionCount: number): number {
  const rest = partitionCount % consumerCount
  return Math.floor(partitionCount / consumerCount) + (place < rest ? 1 : 0)
}
