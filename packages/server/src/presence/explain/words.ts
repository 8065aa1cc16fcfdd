// How explanations write instants, spans and sessions.
import type { Voting } from './facts.ts'

export const instant = (at: number): string => new Date(at).toISOString()

/** An instant, and how far ahead it is. */
export const when = (at: number, now: number): string =>
  at > now ? `${instant(at)} (in ${span(at - now)})` : instant(at)
export const past = (at: number, now: number): string =>
  at < now ? `${instant(at)} (${span(now - at)} ago)` : instant(at)

/** In the largest unit that leaves the number above one. */
export function span(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} days`
}

/** The platform; with the id where several sessions share a platform. */
export function nameOf({ session: { id, platform } }: Voting, votes: readonly Voting[]): string {
  const isShared = votes.some(({ session }) => session.platform === platform && session.id !== id)
  return isShared ? `${platform} (${id})` : platform
}
