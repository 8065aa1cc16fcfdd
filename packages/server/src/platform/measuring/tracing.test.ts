// Spans: their relations, their times by a fake clock, and what of another process is continued.
import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createTracer, type FinishedSpan } from './tracing.ts'

const NOW = 1_750_000_000_000

function createWorld(oneIn = 1) {
  const clock = createFakeClock(NOW)
  const spans: FinishedSpan[] = []
  return { clock, spans, tracer: createTracer({ clock, oneIn, finished: (span) => void spans.push(span) }) }
}

describe('a tracer', () => {
  test('[X8] a child has the trace of its parent, and both have their times', async () => {
    const { clock, spans, tracer } = createWorld()
    const root = tracer.begin('root')!
    await clock.advance(10)
    const child = root.child('child')
    await clock.advance(5)
    child.end({ users: 2 })
    root.end()
    const [first, second] = spans
    expect(first).toMatchObject({
      name: 'child',
      startedAt: NOW + 10,
      endedAt: NOW + 15,
      attributes: { users: 2 },
    })
    expect(second).toMatchObject({ name: 'root', parentId: null, startedAt: NOW, endedAt: NOW + 15 })
    expect([first!.traceId, first!.parentId]).toEqual([second!.traceId, second!.spanId])
  })

  test('[X8] a span ends once', () => {
    const { spans, tracer } = createWorld()
    const span = tracer.begin('a')!
    span.fail()
    span.end()
    expect(spans).toMatchObject([{ isFailed: true }])
  })

  test('[X8] another process goes on with the trace; a text that names none begins nothing', () => {
    const { spans, tracer } = createWorld()
    const root = tracer.begin('root')!
    tracer.resume(root.traceparent, 'there')!.end()
    root.end()
    expect(spans[0]).toMatchObject({ traceId: spans[1]!.traceId, parentId: spans[1]!.spanId })
    for (const text of [
      '',
      'x',
      root.traceparent.toUpperCase(),
      `${root.traceparent}0`,
      root.traceparent.slice(1),
    ])
      expect(tracer.resume(text, 'there')).toBeNull()
  })

  test('[X8] one of so many events is traced', () => {
    const { tracer } = createWorld(1_000_000)
    const traced = Array.from({ length: 1_000 }, () => tracer.begin('a')).filter((span) => span !== null)
    expect(traced.length).toBeLessThan(10)
  })
})
