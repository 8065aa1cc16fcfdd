// Server-sent events as the HTML standard has them, and as strict as no browser is: where the standard
// would skip something quietly (an unknown field, a line without a colon) this fails.
import type { Presence, ServerFrame } from '@greendot/protocol'

export interface EventHandlers {
  message(data: string, lastEventId: string): void
  idAlone(id: string): void
  comment(): void
  retry(ms: number): void
}

/** The event stream format: lines, fields, blocks. */
export function createEventParser(on: EventHandlers) {
  let rest = ''
  let isFirst = true
  let lastEventId = ''
  let block: { data: string[]; hasId: boolean } = { data: [], hasId: false }

  function field(name: string, value: string): void {
    if (name === 'data') block.data.push(value)
    else if (name === 'id' && !value.includes('\0')) {
      lastEventId = value
      block.hasId = true
    } else if (name === 'retry' && /^[0-9]+$/.test(value)) on.retry(Number(value))
    // Ours has one kind of event only, so a name would be a mistake.
    else throw new Error(`a browser would skip the field "${name}: ${value}"`)
  }

  function line(text: string): void {
    if (text === '') {
      const { data, hasId } = block
      block = { data: [], hasId: false }
      if (data.length > 0) on.message(data.join('\n'), lastEventId)
      else if (hasId) on.idAlone(lastEventId)
    } else if (text.startsWith(':')) on.comment()
    else {
      const colon = text.indexOf(':')
      if (colon === -1) throw new Error(`a browser would skip the line "${text}"`)
      field(text.slice(0, colon), text.slice(colon + 1).replace(/^ /, ''))
    }
  }

  return {
    lastEventId: () => lastEventId,
    take(text: string): void {
      rest += isFirst ? text.replace(/^\uFEFF/, '') : text
      isFirst &&= text === ''
      // A line break may be two characters of which only the first is here.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop()!
      for (const one of lines) line(one)
    },
  }
}

export function presencesIn(frame: ServerFrame): Presence[] {
  if (frame.type === 'presence_state') return frame.states
  return frame.type === 'presence_change' ? frame.changes : []
}

/** What comes out of a stream's body, without a connection in between. */
export interface Reading {
  frames: { frame: ServerFrame; id: string }[]
  idsAlone: string[]
  comments(): number
  retryMs(): number
  lastEventId(): string
  hasEnded(): boolean
  /** Reads on from here; until then nothing is taken. */
  start(): void
  texts(userId: string): (string | null)[]
  cancel(): Promise<void>
}

/** Without eagerness nothing is taken until it is told to start. */
export function readerOf(body: ReadableStream<string>, isEager: boolean): Reading {
  const reader = body.getReader()
  const frames: Reading['frames'] = []
  const idsAlone: string[] = []
  let [comments, retryMs, hasEnded] = [0, 0, false]
  const parser = createEventParser({
    message: (data, id) => void frames.push({ frame: JSON.parse(data), id }),
    idAlone: (id) => void idsAlone.push(id),
    comment: () => void comments++,
    retry(ms) {
      retryMs = ms
    },
  })
  async function start(): Promise<void> {
    for (let part = await reader.read(); !part.done; part = await reader.read()) parser.take(part.value)
    hasEnded = true
  }
  if (isEager) void start()
  return {
    frames,
    idsAlone,
    comments: () => comments,
    retryMs: () => retryMs,
    lastEventId: parser.lastEventId,
    hasEnded: () => hasEnded,
    start: () => void start(),
    texts: (userId) =>
      frames.flatMap(({ frame }) =>
        presencesIn(frame)
          .filter(({ user_id }) => user_id === userId)
          .map(({ custom_status }) => custom_status?.text ?? null),
      ),
    cancel: () => reader.cancel(),
  }
}

export const versionOf = (reading: Reading, userId: string) =>
  reading.frames.flatMap(({ frame }) => presencesIn(frame)).findLast(({ user_id }) => user_id === userId)!
    .version
