// Builds what traces need, where they are on: the tracer that parts are given, and the exporter behind it.
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { randomName } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import { createOtlpExporter } from '../platform/measuring/otlp-exporter.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import { createTracer, type Tracer } from '../platform/measuring/tracing.ts'
import { VERSION } from '../platform/version.ts'

export interface Traces {
  tracer: Tracer
  /** Sends what is left, as much as fits in the time. */
  stop(withinMs: number): Promise<void>
}

/** Null where traces are off. */
export function openTraces(
  config: Pick<Config, 'otlpEndpoint' | 'traceOneIn' | 'roles'>,
  { clock, logger, tally }: { clock: Clock; logger: Logger; tally: Tally },
): Traces | null {
  if (config.otlpEndpoint === null) return null
  const exporter = createOtlpExporter({
    endpoint: config.otlpEndpoint,
    resource: {
      'service.name': 'greendot',
      'service.version': VERSION,
      'service.instance.id': randomName('s-'),
      'greendot.roles': config.roles.join(' '),
    },
    clock,
    logger,
    onExported(spans) {
      tally.spansExported += spans
    },
    onDropped(spans) {
      tally.spansDropped += spans
    },
  })
  return {
    tracer: createTracer({ clock, oneIn: config.traceOneIn, finished: exporter.add }),
    stop: exporter.stop,
  }
}
