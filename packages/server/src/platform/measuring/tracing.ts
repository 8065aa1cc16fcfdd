// Traces: which parts a change goes through, and how long it is in each. A trace begins where an event is reported, and
// goes on in other processes by the `traceparent` that a bus message carries. Only a share of the events is traced. A
// span has no id and no text of a user. Where tracing is off there is no tracer, and parts compare one null.
import type { Clock } from '../clock.ts'
import { randomHex, takesPart } from '../ids.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface FinishedSpan {
  name: string
  traceId: string
  spanId: string
  /** Null for the first span of a trace. */
  parentId: string | null
  /** Unix milliseconds, with fractions. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  isFailed: boolean
}

export interface Span {
  /** By which another process continues the trace (W3C Trace Context). */
  readonly traceparent: string
  child(name: string): Span
  /** Later calls change nothing. */
  end(attributes?: Attributes): void
  fail(): void
}

export interface Tracer {
  /** Null for an event that is not sampled. */
  begin(name: string): Span | null
  /** Continues a trace of another process; null for a text that names none. */
  resume(traceparent: string, name: string): Span | null
}

export interface TracerParts {
  clock: Pick<Clock, 'now' | 'elapsed'>
  /** One of so many events is traced. */
  oneIn: number
  finished(span: FinishedSpan): void
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/

/** Times of a process are measured from one instant, so that spans do not overlap by the steps of a clock. */
interface Origin {
  at: number
  elapsedMs: number
}

export function createTracer({ clock, oneIn, finished }: TracerParts): Tracer {
  const hereAndNow = (): Origin => ({ at: clock.now(), elapsedMs: clock.elapsed() })
  const instantOf = ({ at, elapsedMs }: Origin) => at + (clock.elapsed() - elapsedMs)

  function open(name: string, traceId: string, parentId: string | null, origin: Origin): Span {
    const spanId = randomHex(8)
    const startedAt = instantOf(origin)
    let isOpen = true

    function close(attributes: Attributes, isFailed: boolean): void {
      if (!isOpen) return
      isOpen = false
      const endedAt = instantOf(origin)
      finished({ name, traceId, spanId, parentId, startedAt, endedAt, attributes, isFailed })
    }

    return {
      traceparent: `00-${traceId}-${spanId}-01`,
      child: (childName) => open(childName, traceId, spanId, origin),
      end: (attributes = {}) => close(attributes, false),
      fail: () => close({}, true),
    }
  }

  return {
    begin: (name) => (takesPart(oneIn) ? open(name, randomHex(16), null, hereAndNow()) : null),
    resume(traceparent, name) {
      const [, traceId, parentId] = TRACEPARENT.exec(traceparent) ?? []
      return traceId === undefined ? null : open(name, traceId, parentId!, hereAndNow())
    },
  }
}
