// The other way to watch: server-sent events, heard like a WebSocket. Knows just enough of the format to
// hear what comes, so that one test can hold both ways against the same expectation.
import type { ServerFrame } from '@greendot/protocol'
import type { Heard, Sighting, TestClient } from '../client.ts'

/** Whoever watches, by whichever way: every frame so far, and what it says of somebody. */
export type Ear = Pick<TestClient, 'heard' | 'sightings' | 'sees'>

export interface StreamEar extends Ear {
  close(): Promise<void>
}

const WAIT_MS = 5_000
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
  const heard: Heard[] = []
  const listeners = new Set<() => void>()
  const reader = response.body.getReader()
  void listen(reader, (frame) => {
    heard.push({ frame, at: Date.now() })
    for (const look of [...listeners]) look()
  })

  function until<T>(what: string, withinMs: number, find: () => T | undefined): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const timer = setTimeout(() => {
      listeners.delete(look)
      const all = heard.map(({ frame }) => JSON.stringify(frame)).join('\n  ')
      reject(new Error(`the stream of ${viewerId} waited ${withinMs} ms for ${what}; heard\n  ${all}`))
    }, withinMs)
    function look(): void {
      const found = find()
      if (found === undefined) return
      listeners.delete(look)
      clearTimeout(timer)
      resolve(found)
    }
    listeners.add(look)
    look()
    return promise
  }

  function sightings(ofUser: string, since = 0): Sighting[] {
    return heard.slice(since).flatMap(({ frame, at }) => {
      const presences =
        frame.type === 'presence_state' ? frame.states : frame.type === 'presence_change' ? frame.changes : []
      return presences.filter(({ user_id }) => user_id === ofUser).map((presence) => ({ presence, at }))
    })
  }

  await until('the snapshot', WAIT_MS, () => heard[0])
  return {
    heard,
    sightings,
    sees: (ofUser, accept, { since = 0, withinMs = WAIT_MS } = {}) =>
      until(`a sighting of ${ofUser}`, withinMs, () =>
        sightings(ofUser, since).find(({ presence }) => accept(presence)),
      ),
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
