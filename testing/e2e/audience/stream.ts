// The other way to watch: server-sent events, heard like a WebSocket. Knows just enough of the format to
// hear what comes, so that one test can hold both ways against the same expectation.
import type { ServerFrame } from '@greendot/protocol'
import { createHearing, type Ear } from '../../clients/hearing.ts'
import { WAIT_MS } from '../../services/within.ts'

export type { Ear }

export interface StreamEar extends Ear {
  close(): Promise<void>
}

const MESSAGE_END = '\n\n'
const DATA = 'data: '

/** Resolves once the snapshot is there. */
export async function openStreamEar(
  url: string,
  viewerId: string,
  userIds: readonly string[],
): Promise<StreamEar> {
  const response = await fetch(`${url}/api/v1/stream?user_ids=${userIds.join(',')}`, {
    headers: { authorization: `Bearer dev:${viewerId}` },
  })
  if (!response.ok || response.body === null) throw new Error(`no stream: ${await response.text()}`)
  const { heard, hear, until, sightings, sees } = createHearing(`the stream of ${viewerId}`)
  const reader = response.body.getReader()
  void listen(reader, hear)
  await until('the snapshot', WAIT_MS, () => heard[0])
  return {
    heard,
    sightings,
    sees: (userId, accept, options) => sees(userId, accept, { withinMs: WAIT_MS, ...options }),
    close: () => reader.cancel(),
  }
}

async function listen(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  hear: (frame: ServerFrame) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  // A server that stops ends the stream with an error, and then there is nothing more to hear.
  const read = () => reader.read().catch(() => ({ done: true, value: undefined }) as const)
  for (let part = await read(); !part.done; part = await read()) {
    text += decoder.decode(part.value, { stream: true })
    const messages = text.split(MESSAGE_END)
    text = messages.pop()!
    for (const line of messages.flatMap((message) => message.split('\n'))) {
      if (line.startsWith(DATA)) hear(JSON.parse(line.slice(DATA.length)))
    }
  }
}
