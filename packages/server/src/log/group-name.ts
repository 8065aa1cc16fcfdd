// The name of a consumer group. It becomes part of keys and hash tags in Redis and an id in Kafka, so the same letters
// are allowed on every adapter.

const GROUP_NAME = /^[\w.-]{1,100}$/

export function checkGroupName(group: string): void {
  if (!GROUP_NAME.test(group))
    throw new Error(`not a name of a group: ${JSON.stringify(group.slice(0, 100))}`)
}
