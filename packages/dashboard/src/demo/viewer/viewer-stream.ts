// What another viewer sees of a user: a stream with the token of that viewer, which does not make the viewer
// online. Open only while the page is visible, because browsers limit connections of this kind.

import type { Presence } from '@greendot/client'
import { after, type Timer } from '../../clock.ts'

const RETRY_MS = 2_000

export interface ViewerStream {
  close(): void
}

export interface ViewerStreamParts {
  viewer: string
  target: string
  onPresence(presence: Presence): void
  /** Unknown until the next `onPresence`. */
  onLost(): void
}

export function openViewerStream({ viewer, target, onPresence, onLost }: ViewerStreamParts): ViewerStream {
  const query = new URLSearchParams({ user_ids: target, token: `dev:${viewer}` })
  let source: EventSource | null = null
  let retry: Timer | null = null

  function open(): void {
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
      for (const presence of frame.states ?? frame.changes ?? []) onPresence(presence)
    }
    opened.onerror = () => {
      onLost()
      // Browsers reconnect by themselves unless the stream was refused.
      if (opened.readyState === EventSource.CLOSED) retry = after(RETRY_MS, open)
    }
  }

  document.addEventListener('visibilitychange', open)
  open()
  return {
    close() {
      document.removeEventListener('visibilitychange', open)
      retry?.stop()
      source?.close()
    },
  }
}
