// Somebody else's eyes on you: a stream of their own, which shows them what they may see and makes them no
// more present than they are. Open only while the page can be seen, because a browser has few connections
// of this kind to give.
import type { Presence } from '@greendot/client'
import { after, type Timer } from '../clock.ts'

const RETRY_MS = 2_000

export interface Eyes {
  close(): void
}

export interface EyesParts {
  viewer: string
  target: string
  onSight(presence: Presence): void
  /** From now on nobody knows, until the next sight. */
  onLost(): void
}

export function openEyes({ viewer, target, onSight, onLost }: EyesParts): Eyes {
  const query = new URLSearchParams({ user_ids: target, token: `dev:${viewer}` })
  let source: EventSource | null = null
  let retry: Timer | null = null

  function look(): void {
    retry?.stop()
    source?.close()
    source = null
    if (document.hidden) {
      onLost()
      return
    }
    const opened = new EventSource(`/api/v1/stream?${query}`)
    source = opened
    opened.onmessage = ({ data }) => {
      const frame = JSON.parse(data)
      for (const presence of frame.states ?? frame.changes ?? []) onSight(presence)
    }
    opened.onerror = () => {
      onLost()
      // A browser comes back by itself unless it was refused.
      if (opened.readyState === EventSource.CLOSED) retry = after(RETRY_MS, look)
    }
  }

  document.addEventListener('visibilitychange', look)
  look()
  return {
    close() {
      document.removeEventListener('visibilitychange', look)
      retry?.stop()
      source?.close()
    },
  }
}
