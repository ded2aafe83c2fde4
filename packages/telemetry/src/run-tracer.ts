/** The spans of one run on their way to whoever sends them. What fails here never reaches the run. */
import { TraceFlags, type SpanContext } from '@opentelemetry/api'
import { spanId, traceIdOf, type TraceContext } from '@tutti/core'

import { callerContext } from './begin-trace.ts'
import { INSTRUMENTATION } from './attributes.ts'
import { toHrTime, type EndedSpan, type OpenSpan } from './open-span.ts'
import { RunSpans } from './run-spans.ts'

import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { ResolvedTraceRunsOptions } from './options.ts'
import type { TracedEvent } from './span-table.ts'

/** Whose spans are made. */
export interface RunTracerRun extends TraceContext {
  readonly runId: string
  readonly traceparent: string
}

/** Makes the spans of one run and hands them on. */
export class RunTracer {
  readonly #options: ResolvedTraceRunsOptions
  readonly #spans: RunSpans
  readonly #traceId: string
  readonly #caller: SpanContext | undefined
  readonly #state: SpanContext['traceState']
  /** Whether spans that end are handed on; those that an earlier owner has sent are not sent again. */
  isMuted = false
  #isBroken = false

  constructor(run: RunTracerRun, options: ResolvedTraceRunsOptions) {
    const { redact, captureContent, modelNames } = options
    this.#options = options
    this.#traceId = traceIdOf(run.traceparent)
    this.#caller = callerContext(run.runId, run)
    this.#state = this.#caller?.traceState
    const onEnd = (ended: EndedSpan): void => {
      if (!this.isMuted) this.#handOn(ended)
    }
    this.#spans = new RunSpans({ runId: run.runId, redact, captureContent, modelNames, onEnd })
  }

  /** Whether nothing more comes of it: the run has ended, or its events could not be read. */
  get isOver(): boolean {
    return this.#isBroken || this.#spans.isOver
  }

  /** Takes the next event. Never throws; after a failure it takes no more. */
  take(event: TracedEvent): void {
    if (this.#isBroken) return
    try {
      this.#spans.take(event)
    } catch (error) {
      this.#isBroken = true
      this.#options.onError(error)
    }
  }

  #handOn(ended: EndedSpan): void {
    try {
      this.#options.processor.onEnd(this.#readable(ended))
    } catch (error) {
      this.#options.onError(error)
    }
  }

  #readable({ span, endMs, status }: EndedSpan): ReadableSpan {
    const context = this.#contextOf(span)
    const parent = span.parent === undefined ? this.#caller : this.#contextOf(span.parent)
    return {
      name: span.name,
      kind: span.kind,
      spanContext: () => context,
      ...(parent === undefined ? {} : { parentSpanContext: parent }),
      startTime: toHrTime(span.startMs),
      endTime: toHrTime(endMs),
      duration: toHrTime(endMs - span.startMs),
      status,
      attributes: span.attributes,
      events: span.events,
      links: [],
      ended: true,
      resource: this.#options.resource,
      instrumentationScope: { name: INSTRUMENTATION },
      droppedAttributesCount: 0,
      droppedEventsCount: span.droppedEvents,
      droppedLinksCount: 0,
    }
  }

  #contextOf({ key }: OpenSpan): SpanContext {
    return {
      traceId: this.#traceId,
      spanId: spanId(this.#traceId, key),
      traceFlags: TraceFlags.SAMPLED,
      ...(this.#state === undefined ? {} : { traceState: this.#state }),
    }
  }
}
