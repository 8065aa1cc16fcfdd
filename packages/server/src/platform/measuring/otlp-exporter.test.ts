// The exporter beside a collector that takes, refuses or is away: batches, bounds, and what is logged. That a real
// receiver understands it is in testing/e2e/traces.test.ts.
import { afterEach, describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createLogger } from '../logger.ts'
import { createOtlpExporter } from './otlp-exporter.ts'
import type { FinishedSpan } from './tracing.ts'

const STOP_MS = 10_000
const SPAN: FinishedSpan = {
  name: 'a',
  traceId: 'ab'.repeat(16),
  spanId: 'cd'.repeat(8),
  parentId: null,
  startedAt: 1_750_000_000_000.25,
  endedAt: 1_750_000_000_001,
  attributes: { users: 3, changed: true, how: 'x' },
  isFailed: false,
}

interface Body {
  resourceSpans: { scopeSpans: { spans: { attributes: object[] }[] }[] }[]
}

const open: Bun.Server<undefined>[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.stop(true)
})

function createWorld(answer: () => Response | Promise<Response>, path = '/') {
  const bodies: Body[] = []
  const paths: string[] = []
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      paths.push(new URL(request.url).pathname)
      bodies.push((await request.json()) as Body)
      return answer()
    },
  })
  open.push(server)
  const lines: string[] = []
  const counts = { exported: 0, dropped: 0 }
  const clock = createFakeClock(0)
  const exporter = createOtlpExporter({
    endpoint: `http://user:hunter2@127.0.0.1:${server.port}${path}`,
    resource: { 'service.name': 'greendot' },
    clock,
    logger: createLogger({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
    onExported: (spans) => {
      counts.exported += spans
    },
    onDropped: (spans) => {
      counts.dropped += spans
    },
  })
  return { exporter, clock, bodies, paths, lines, counts, server }
}

const ok = () => new Response('{}')
const refusing = () => new Response('', { status: 503 })
const spansOf = (body: Body) => body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]!.spans)

describe('the exporter of traces', () => {
  test('[X8] sends spans in batches to the path of the protocol', async () => {
    const { exporter, bodies, paths, counts } = createWorld(ok, '/collector/')
    for (let span = 0; span < 600; span++) exporter.add(SPAN)
    await exporter.stop(STOP_MS)
    expect(bodies.map((body) => spansOf(body).length)).toEqual([512, 88])
    expect(new Set(paths)).toEqual(new Set(['/collector/v1/traces']))
    expect(counts).toEqual({ exported: 600, dropped: 0 })
    expect(spansOf(bodies[0]!)[0]).toEqual({
      traceId: SPAN.traceId,
      spanId: SPAN.spanId,
      name: 'a',
      kind: 1,
      startTimeUnixNano: '1750000000000250000',
      endTimeUnixNano: '1750000000001000000',
      attributes: [
        { key: 'users', value: { intValue: '3' } },
        { key: 'changed', value: { boolValue: true } },
        { key: 'how', value: { stringValue: 'x' } },
      ],
    } as never)
  })

  test('[X8] a collector that refuses costs spans and two log lines, however long it takes', async () => {
    let isRefusing = true
    const { exporter, lines, counts } = createWorld(() => (isRefusing ? refusing() : ok()))
    for (let round = 0; round < 11; round++) {
      exporter.add(SPAN)
      await exporter.stop(STOP_MS)
    }
    expect(counts).toEqual({ exported: 0, dropped: 11 })
    isRefusing = false
    exporter.add(SPAN)
    await exporter.stop(STOP_MS)
    expect(counts).toEqual({ exported: 1, dropped: 11 })
    expect(lines).toHaveLength(2)
    expect(lines.join('')).not.toContain('hunter2')
  })

  test('[X8] what waits for a collector that is away is bounded', async () => {
    const { exporter, counts, server } = createWorld(ok)
    await server.stop(true)
    for (let span = 0; span < 10_000; span++) exporter.add(SPAN)
    expect(counts.dropped).toBe(10_000 - 4_096)
    await exporter.stop(STOP_MS)
    expect(counts).toEqual({ exported: 0, dropped: 10_000 })
  })

  test('[X8] all that waits is sent at the stop, and what does not fit in the time is dropped and counted', async () => {
    let answerMs = 0
    const { exporter, clock, counts, lines } = createWorld(async () => {
      await clock.advance(answerMs)
      return ok()
    })
    for (let span = 0; span < 4_096; span++) exporter.add(SPAN)
    await exporter.stop(STOP_MS)
    expect(counts).toEqual({ exported: 4_096, dropped: 0 })
    for (let span = 0; span < 4_096; span++) exporter.add(SPAN)
    answerMs = STOP_MS / 2
    await exporter.stop(STOP_MS)
    expect(counts).toEqual({ exported: 4_096 + 1_024, dropped: 4_096 - 1_024 })
    expect(lines.at(-1)).toContain('not sent before the stop')
  })

  test('[X8] nothing is sent and no timer is set while there is nothing to send', async () => {
    const { exporter, clock, bodies } = createWorld(ok)
    expect(clock.timerCount()).toBe(0)
    await exporter.stop(STOP_MS)
    expect(bodies).toEqual([])
  })
})
