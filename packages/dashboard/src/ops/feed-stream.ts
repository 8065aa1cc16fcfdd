// Reads the live feed: server-sent events over fetch, because the key belongs into a header. Reconnects by
// itself.
import type { Presence } from '@greendot/client'
import { after, type Timer } from '../clock.ts'
import type { Api } from './api.ts'

const RETRY_MS = 2_000

export type FeedEvent =
  | { type: 'change'; at: number; presence: Presence }
  | { type: 'left_out'; count: number }

export interface FeedEvents {
  event(event: FeedEvent): void
  /** Whether the feed is open. */
  link(isOpen: boolean): void
}

export function openFeed(api: Api, on: FeedEvents): { close(): void } {
  const ending = new AbortController()
  let retry: Timer | null = null

  async function read(): Promise<void> {
    const { ok, body } = await api.feed(ending.signal)
    if (!ok || body === null) return
    on.link(true)
    let rest = ''
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const messages = (rest + chunk.value).split('\n\n')
      rest = messages.pop()!
      for (const message of messages) {
        if (message.startsWith('data: ')) on.event(JSON.parse(message.slice('data: '.length)))
      }
    }
  }

  function run(): void {
    read()
      // A failed request is retried like the end of a stream.
      .catch(() => {})
      .finally(() => {
        if (ending.signal.aborted) return
        on.link(false)
        retry = after(RETRY_MS, run)
      })
  }

  run()
  return {
    close() {
      ending.abort()
      retry?.stop()
    },
  }
}
