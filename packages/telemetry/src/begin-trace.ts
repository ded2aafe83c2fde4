/**
 * Chooses the trace of a run and whether it is recorded. The choice is stored with the run, so it applies in every
 * process.
 */
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type SpanContext,
} from '@opentelemetry/api'
import {
  isSampled,
  newTraceparent,
  runSpanKey,
  spanId,
  spanTraceparent,
  traceIdOf,
} from '@tutti/core/internal'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'

import type { Sampler } from '@opentelemetry/sdk-trace-base'
import type { TraceContext } from '@tutti/core/internal'

/** `SamplingDecision.RECORD_AND_SAMPLED`, which is not imported as it would load the SDK. */
const RECORD_AND_SAMPLED = 2

export interface TracedRunStart {
  readonly runId: string
  /** Name of its ensemble, for the sampler. */
  readonly ensemble?: string
}

/**
 * Returns the trace context of a new run. Without a context of the caller, `traceparent` names the span of the run
 * itself.
 */
export function beginTrace(
  run: TracedRunStart,
  asked: TraceContext,
  sampler: Sampler | undefined,
): Required<Pick<TraceContext, 'traceparent'>> & TraceContext {
  const { traceparent: given } = asked
  const traceparent = given ?? spanTraceparent(newTraceparent(), runSpanKey(run.runId))
  if (sampler === undefined) return { ...asked, traceparent: given ?? withFlag(traceparent, true) }
  const { decision, traceState } = callSampler(sampler, { ...run, traceparent }, asked)
  const tracestate = traceState?.serialize() ?? asked.tracestate
  const isRecorded = decision.valueOf() === RECORD_AND_SAMPLED
  return {
    traceparent: withFlag(traceparent, isRecorded),
    ...(tracestate === undefined || tracestate === '' ? {} : { tracestate }),
  }
}

/** Returns the span of the caller; undefined when the run began its trace itself. */
export function callerContext(
  runId: string,
  { traceparent, tracestate }: TraceContext,
): SpanContext | undefined {
  if (traceparent === undefined) return undefined
  const context = toSpanContext(traceparent, tracestate)
  return context.spanId === spanId(context.traceId, runSpanKey(runId))
    ? undefined
    : { ...context, isRemote: true }
}

/** Converts a `traceparent` to OpenTelemetry's span context. */
export function toSpanContext(traceparent: string, tracestate?: string): SpanContext {
  return {
    traceId: traceIdOf(traceparent),
    spanId: traceparent.slice(36, 52),
    traceFlags: isSampled(traceparent) ? 1 : 0,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  }
}

function callSampler(
  sampler: Sampler,
  { runId, ensemble = '', traceparent }: TracedRunStart & { readonly traceparent: string },
  asked: TraceContext,
): ReturnType<Sampler['shouldSample']> {
  const caller =
    asked.traceparent === undefined
      ? undefined
      : { ...toSpanContext(asked.traceparent, asked.tracestate), isRemote: true }
  const context = caller === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller)
  const attributes = {
    [TUTTI.runId]: runId,
    [GEN_AI.operationName]: OPERATION.invokeWorkflow,
    [GEN_AI.workflowName]: ensemble,
  }
  const name = `${OPERATION.invokeWorkflow} ${ensemble}`
  return sampler.shouldSample(
    context,
    traceIdOf(traceparent),
    name,
    SpanKind.INTERNAL,
    attributes,
    [],
  )
}

/** Sets the sampled flag; other flags do not change. */
function withFlag(traceparent: string, isRecorded: boolean): string {
  const flags = Number.parseInt(traceparent.slice(53), 16)
  const set = isRecorded ? flags | 1 : flags & 0xfe
  return `${traceparent.slice(0, 53)}${set.toString(16).padStart(2, '0')}`
}
