// Sends finished spans to a collector: OTLP over HTTP, as JSON. Spans gather for a moment and go in batches, one request
// at a time. What waits is bounded, and a collector that does not answer costs spans, never memory or a change.
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { Attributes, FinishedSpan } from './tracing.ts'

const GATHER_MS = 1_000
const BATCH_MAX = 512
const WAITING_MAX = 4_096
const ANSWER_MS_MAX = 5_000
/** A batch is dropped after so many. */
const ATTEMPTS_MAX = 3
const PATH = '/v1/traces'
const INTERNAL_KIND = 1
const ERROR_CODE = 2

export interface OtlpExporter {
  add(span: FinishedSpan): void
  /** Sends what waits, as much as fits in the time. The rest is dropped. */
  stop(withinMs: number): Promise<void>
}

export interface OtlpExporterParts {
  /** The base address of the collector, as in OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string
  /** What the spans have in common. */
  resource: Attributes
  clock: Clock
  logger: Logger
  onExported(spans: number): void
  onDropped(spans: number): void
}

export function createOtlpExporter(parts: OtlpExporterParts): OtlpExporter {
  const { endpoint, resource, clock, logger, onExported, onDropped } = parts
  const url = endpoint.replace(/\/+$/, '') + PATH
  let waiting: FinishedSpan[] = []
  let attempts = 0
  let sending: Promise<void> | null = null
  let isPlanned = false
  let isFailing = false
  /** Nothing is waited for longer than this. */
  let endAt = Number.POSITIVE_INFINITY

  function sendSoon(): void {
    if (isPlanned || sending !== null) return
    isPlanned = true
    clock.after(GATHER_MS, () => {
      isPlanned = false
      void sendNext()
    })
  }

  function sendNext(): Promise<void> {
    sending ??= sendBatch(waiting.slice(0, BATCH_MAX)).finally(() => {
      sending = null
      if (waiting.length > 0) sendSoon()
    })
    return sending
  }

  async function sendBatch(batch: readonly FinishedSpan[]): Promise<void> {
    if (batch.length === 0) return
    const problem = await post(bodyOf(batch, resource))
    if (problem !== null && ++attempts < ATTEMPTS_MAX) return
    attempts = 0
    waiting = waiting.slice(batch.length)
    if (problem === null) onExported(batch.length)
    else onDropped(batch.length)
    if ((problem !== null) !== isFailing) {
      isFailing = !isFailing
      if (isFailing) logger.warn({ problem }, 'traces cannot be sent; the collector does not take them')
      else logger.info('traces are sent again')
    }
  }

  /** Null when the collector took it. The address may have a password, so it is not in the problem. */
  async function post(body: string): Promise<string | null> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(Math.max(1, Math.min(ANSWER_MS_MAX, endAt - clock.now()))),
      })
      // Read, so that the connection can be used again.
      await answer.arrayBuffer()
      return answer.ok ? null : `status ${answer.status}`
    } catch (error) {
      return error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : 'not reachable'
    }
  }

  return {
    add(span) {
      if (waiting.length >= WAITING_MAX) return onDropped(1)
      waiting.push(span)
      sendSoon()
    },
    async stop(withinMs) {
      endAt = clock.now() + withinMs
      await sending
      while (waiting.length > 0 && clock.now() < endAt) await sendNext()
      if (waiting.length === 0) return
      onDropped(waiting.length)
      logger.warn({ spans: waiting.length }, 'spans of traces were not sent before the stop')
      waiting = []
    },
  }
}

function bodyOf(spans: readonly FinishedSpan[], resource: Attributes): string {
  const scope = { name: 'greendot' }
  return JSON.stringify({
    resourceSpans: [
      { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope, spans: spans.map(spanOf) }] },
    ],
  })
}

function spanOf(span: FinishedSpan): object {
  const { traceId, spanId, parentId, name, startedAt, endedAt, attributes, isFailed } = span
  return {
    traceId,
    spanId,
    ...(parentId !== null && { parentSpanId: parentId }),
    name,
    kind: INTERNAL_KIND,
    startTimeUnixNano: nanosecondsOf(startedAt),
    endTimeUnixNano: nanosecondsOf(endedAt),
    attributes: attributesOf(attributes),
    ...(isFailed && { status: { code: ERROR_CODE } }),
  }
}

/** As text, because JSON numbers are too small for it. */
function nanosecondsOf(ms: number): string {
  const whole = Math.floor(ms)
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`
}

const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOfAttribute(value) }))

function valueOfAttribute(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
