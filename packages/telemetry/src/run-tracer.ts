/** Passes the spans of one run to the processor. Errors never reach the run. */
import { TraceFlags, type SpanContext } from '@opentelemetry/api'
import { spanId, traceIdOf, type TraceContext } from '@tutti/core/internal'

import { callerContext } from './begin-trace.ts'
import { INSTRUMENTATION } from './attributes.ts'
import { toHrTime, type EndedSpan, type OpenSpan } from './open-span.ts'
import { RunSpans } from './run-spans.ts'

import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { ResolvedTraceRunsOptions } from './options.ts'
import type { TracedEvent } from './span-table.ts'

/** A run with its trace. */
export interface RunTracerRun extends TraceContext {
  readonly runId: string
  readonly traceparent: string
}

/** Creates the spans of one run and passes them to the processor. */
export class RunTracer {
  readonly #options: ResolvedTraceRunsOptions
  readonly #spans: RunSpans
  readonly #traceId: string
  readonly #caller: SpanContext | undefined
  readonly #state: SpanContext['traceState']
  /** Whether spans that end are dropped, because an earlier owner has sent them. */
  isMuted = false
  #isBroken = false

  constructor(run: RunTracerRun, options: ResolvedTraceRunsOptions) {
    const { redact, captureContent, maxAddedTasks, modelNames } = options
    this.#options = options
    this.#traceId = traceIdOf(run.traceparent)
    this.#caller = callerContext(run.runId, run)
    this.#state = this.#caller?.traceState
    const onEnd = (ended: EndedSpan): void => {
      if (!this.isMuted) this.#send(ended)
    }
    const { runId } = run
    this.#spans = new RunSpans({ runId, redact, captureContent, maxAddedTasks, modelNames, onEnd })
  }

  /** Whether no further spans are made: the run has ended, or an event failed. */
  get isOver(): boolean {
    return this.#isBroken || this.#spans.isOver
  }

  /** Takes the next event. Never throws; after an error, later events are ignored. */
  take(event: TracedEvent): void {
    if (this.#isBroken) return
    try {
      this.#spans.take(event)
    } catch (error) {
      this.#isBroken = true
      this.#options.onError(error)
    }
  }

  #send(ended: EndedSpan): void {
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
