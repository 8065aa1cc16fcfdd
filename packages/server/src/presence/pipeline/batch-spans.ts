// The spans of one phase of a batch: what the store is asked for all users at once is a part of the trace of each user
// that is traced.
import type { Span } from '../../platform/measuring/tracing.ts'
import type { Work } from './work.ts'

export interface BatchSpans {
  /** Runs a phase, as a span of every trace in the batch. */
  around<T>(name: string, run: () => Promise<T>): Promise<T>
}

/** Null where no user of the batch is traced. */
export function batchSpansOf(works: ReadonlyMap<string, Work>): BatchSpans | null {
  const spans: Span[] = []
  for (const { span } of works.values()) if (span !== null) spans.push(span)
  if (spans.length === 0) return null
  const users = works.size
  return {
    async around(name, run) {
      const phase = spans.map((span) => span.child(name))
      try {
        const result = await run()
        for (const one of phase) one.end({ users })
        return result
      } catch (error) {
        for (const one of phase) one.fail()
        throw error
      }
    },
  }
}
