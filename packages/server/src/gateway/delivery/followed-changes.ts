// Traced changes on their way to their first watcher. Sending looks here only while there is one: `count` is a plain
// number for that.
import type { Span } from '../../platform/measuring/tracing.ts'

/** Past it the oldest is given up: its target has no watcher that may see it. */
const FOLLOWED_MAX = 256

export interface FollowedChanges {
  count: number
  /** A newer change of the target takes the place of an earlier one. */
  follow(target: number, span: Span, watchers: number): void
  /** A frame has the newest change of the target. */
  sent(target: number): void
  drop(target: number): void
  clear(): void
}

interface Followed {
  span: Span
  watchers: number
}

export function createFollowedChanges(): FollowedChanges {
  const byTarget = new Map<number, Followed>()

  function end(target: number, isSent: boolean): void {
    const followed = byTarget.get(target)
    if (followed === undefined) return
    byTarget.delete(target)
    changes.count = byTarget.size
    followed.span.end({ sent: isSent, watchers: followed.watchers })
  }

  const changes: FollowedChanges = {
    count: 0,
    follow(target, span, watchers) {
      end(target, false)
      const [oldest] = byTarget.keys()
      if (byTarget.size >= FOLLOWED_MAX && oldest !== undefined) end(oldest, false)
      byTarget.set(target, { span, watchers })
      changes.count = byTarget.size
    },
    sent: (target) => end(target, true),
    drop: (target) => end(target, false),
    clear() {
      for (const target of [...byTarget.keys()]) end(target, false)
    },
  }
  return changes
}
