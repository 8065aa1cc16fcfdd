// A receiver of traces for tests: that of the OpenTelemetry Collector, which Go builds once.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { newFolder, removeFolder, startChild } from '../child.ts'
import type { Found } from '../found.ts'
import { freePort, LOOPBACK } from '../ports.ts'
import { cacheFolder, fetchOnce, lastLine } from './cache.ts'

const SOURCE = resolve(import.meta.dir, 'otlp-receiver')
/** Building it takes a minute or two. */
const BUILD_MS_MAX = 300_000

export interface ReceivedSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId: string
  startedAt: bigint
  endedAt: bigint
  attributes: Record<string, unknown>
  /** What the spans of a process have in common. */
  resource: Record<string, unknown>
}

export interface OtlpReceiver {
  url: string
  spans(): ReceivedSpan[]
  /** All that came, as the receiver understood it. */
  text(): string
  stop(): Promise<void>
}

let receiver: Promise<Found> | null = null

/** Finds the receiver, building it if possible; searched once per process. */
export function findOtlpReceiver(): Promise<Found> {
  receiver ??= findOrBuild()
  return receiver
}

async function findOrBuild(): Promise<Found> {
  // Named by its sources, so that a change of them is built again.
  const sources = ['main.go', 'go.mod'].map((name) => readFileSync(join(SOURCE, name), 'utf8'))
  const folder = cacheFolder(`otlp-receiver-${Bun.hash(sources.join('')).toString(36)}`)
  const path = join(folder, 'otlp-receiver')
  if (existsSync(path)) return { state: 'found', path }
  const why = await buildInto(folder)
  // Go is not expected on every machine.
  if (why !== null) return { state: 'missing', why: `no receiver of traces, and ${why}`, isOptional: true }
  return { state: 'found', path }
}

async function buildInto(folder: string): Promise<string | null> {
  const go = Bun.which('go')
  if (go === null) return 'there is no Go to build it with'
  return fetchOnce(folder, {
    what: 'the receiver of traces',
    by: 'Go',
    command: (into) => [go, 'build', '-buildvcs=false', '-o', join(into, 'otlp-receiver'), '.'],
    cwd: SOURCE,
    env: () => ({ GOFLAGS: '', GOTOOLCHAIN: 'local' }),
    msMax: BUILD_MS_MAX,
    problemIn: lastLine,
  })
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const found = await findOtlpReceiver()
  if (found.state === 'missing') throw new Error(found.why)
  const folder = newFolder('otlp')
  const file = join(folder, 'traces.jsonl')
  const address = `${LOOPBACK}:${await freePort()}`
  const child = await startChild({
    name: 'the receiver of traces',
    cmd: [found.path, address, file],
    folder,
    readyWhen: 'listening',
    endingSignal: 'SIGKILL',
  })
  const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  return {
    url: `http://${address}`,
    text,
    // A line that is being written has no end yet.
    spans: () => text().split('\n').slice(0, -1).flatMap(spansIn),
    async stop() {
      await child.end('SIGTERM')
      removeFolder(folder)
    },
  }
}

interface KeyValue {
  key: string
  value: Record<string, unknown>
}

interface Batch {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: {
      spans: (Record<'name' | 'traceId' | 'spanId' | 'parentSpanId', string> & {
        startTimeUnixNano: string
        endTimeUnixNano: string
        attributes?: KeyValue[]
      })[]
    }[]
  }[]
}

function spansIn(line: string): ReceivedSpan[] {
  const valuesOf = (attributes: KeyValue[] = []) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
  return (JSON.parse(line) as Batch).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, traceId, spanId, parentSpanId, attributes, startTimeUnixNano, endTimeUnixNano }) => ({
        name,
        traceId,
        spanId,
        parentSpanId,
        startedAt: BigInt(startTimeUnixNano),
        endedAt: BigInt(endTimeUnixNano),
        attributes: valuesOf(attributes),
        resource: valuesOf(resource.attributes),
      })),
  )
}
