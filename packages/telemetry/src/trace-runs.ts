/** Traces runs, in process and of a run service. */
import { isSampled, newId, newTraceparent, type TraceContext } from '@tutti/core/internal'

import { beginTrace, type TracedRunStart } from './begin-trace.ts'
import { FollowedRuns, type RunActivityLike } from './followed-runs.ts'
import {
  resolveTraceRunsOptions,
  type ResolvedTraceRunsOptions,
  type TraceRunsOptions,
} from './options.ts'
import { RunTracer } from './run-tracer.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { ReadEvents } from './followed-run.ts'

/** Options of a traced run in process: its id, and the trace context of the caller. */
export interface TraceRunOptions extends TraceContext {
  /** @default a random id */
  readonly runId?: string
}

/** Options for `ensemble.run`, so that the run and its spans have the same ids. */
export interface TracedRunOptions {
  readonly runId: string
  readonly traceparent: string
  readonly tracestate?: string
  readonly onEvent: (event: RunEvent) => void
}

/** Options for a run service, so that its runs and their spans have the same ids. */
export interface TracedServiceOptions {
  readonly traceNewRun: (
    run: { readonly runId: string; readonly ensemble: string },
    asked: TraceContext,
  ) => TraceContext
  readonly onExecuted: (runId: string, events: readonly LoggedRunEvent[]) => void
  readonly onActivity: (activity: RunActivityLike) => void
}

/** Traces runs; created by {@link traceRuns}. */
export interface RunTracing {
  /**
   * Returns options for a run in process: `ensemble.run(inputs, { ...tracing.run() })`. Its spans belong to the trace
   * of `traceparent`, or to a new one.
   */
  run(options?: TraceRunOptions): TracedRunOptions
  /** Returns options for a run service whose log `read` reads. */
  service(read: ReadEvents): TracedServiceOptions
  /** Resolves when every ended span has been sent. */
  flush(): Promise<void>
  /** Sends the ended spans and shuts the processor down; later spans are not sent. */
  shutdown(): Promise<void>
}

/** Makes spans from the events of runs and passes them to a span processor. It has no global state. */
export function traceRuns(options: TraceRunsOptions): RunTracing {
  const resolved = resolveTraceRunsOptions(options)
  const followed = new FollowedRuns(resolved)
  return {
    run({ runId = newId('run'), ...asked } = {}) {
      const { traceparent = newTraceparent(), ...more } = begin({ runId }, asked, resolved)
      const context = { runId, traceparent, ...more }
      const tracer = isSampled(traceparent) ? new RunTracer(context, resolved) : undefined
      return { ...context, onEvent: (event) => tracer?.take(event) }
    },
    service: (read) => ({
      traceNewRun: (run, asked) => begin(run, asked, resolved),
      onExecuted: (runId, events) => {
        followed.take(runId, events)
      },
      onActivity: (activity) => {
        followed.takeActivity(activity, read)
      },
    }),
    async flush() {
      await followed.caughtUp()
      await resolved.processor.forceFlush()
    },
    async shutdown() {
      await followed.caughtUp()
      await resolved.processor.shutdown()
    },
  }
}

/** Chooses the trace of a run. If the sampler throws, the run continues without spans. */
function begin(
  run: TracedRunStart,
  asked: TraceContext,
  { sampler, onError }: ResolvedTraceRunsOptions,
): TraceContext {
  try {
    return beginTrace(run, asked, sampler)
  } catch (error) {
    onError(error)
    return asked
  }
}
