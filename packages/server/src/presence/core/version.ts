// Versions order what is shown of a user: each visible change takes the next. They never go back, even when the hot
// state that counted them is lost.
const VERSION_EPOCH_AT = Date.UTC(2025, 0, 1)

/** The version of a user who was never shown, as far as anything remembers. */
export const NO_VERSION = 0
/** Above every version that a user comes to: of a millisecond of the year 9999. It leaves room for counting on. */
export const VERSION_MAX = Date.UTC(9999, 11, 31)

/**
 * For a user without a known version: the millisecond of the change. No user changes once a millisecond all the time, so
 * that is above every version the user was ever shown with.
 */
export function freshVersion(now: number): number {
  return Math.max(NO_VERSION + 1, now - VERSION_EPOCH_AT)
}

/**
 * `changedAt` is when it happened. A version is content, so it must not depend on when the user was worked on (S6,
 * decision 23).
 */
export function nextVersion(version: number, changedAt: number): number {
  return version === NO_VERSION ? freshVersion(changedAt) : version + 1
}
