/** A processor that stores spans in the form that a collector receives. */
import { SpanStatusCode } from '@opentelemetry/api'

import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'

import type { TraceRunsOptions } from '../src/index.ts'
import type { SentSpan } from './collector.ts'

/** Adds every span to `spans` when it ends. */
export function keepIn(spans: SentSpan[]): TraceRunsOptions['processor'] {
  return {
    onEnd: (span) => {
      spans.push(sentOf(span))
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
}

function sentOf(span: ReadableSpan): SentSpan {
  const { traceId, spanId, traceState } = span.spanContext()
  const ms = ([seconds, nanos]: readonly [number, number]): number =>
    seconds * 1_000 + nanos / 1_000_000
  return {
    name: span.name,
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    traceState: traceState?.serialize(),
    kind: span.kind,
    startMs: ms(span.startTime),
    endMs: ms(span.endTime),
    attributes: span.attributes,
    events: span.events.map(({ name, attributes = {} }) => ({ name, attributes })),
    isError: span.status.code === SpanStatusCode.ERROR,
    error: span.status.message,
    resource: span.resource.attributes,
  }
}
