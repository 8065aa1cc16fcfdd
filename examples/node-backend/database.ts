// Stands for the app's own database of users and friendships. Greendot only gets what main.ts sends.

const friendships = new Map<string, Set<string>>([
  ['alice', new Set(['bob', 'carol'])],
  ['bob', new Set(['alice'])],
  ['carol', new Set(['alice'])],
])

export const users = (): string[] => [...friendships.keys()]
export const isUser = (name: string): boolean => friendships.has(name)
export const friendsOf = (name: string): string[] => [...(friendships.get(name) ?? [])]

export function befriend(one: string, other: string): void {
  friendships.get(one)?.add(other)
  friendships.get(other)?.add(one)
}
