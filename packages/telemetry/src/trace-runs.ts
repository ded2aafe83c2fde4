/** The door: spans of runs, in process and of a run service. */
import { isSampled, newTraceparent, type TraceContext } from '@tutti/core'

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

/** A run in process that is to be traced. */
export interface TraceRunOptions extends TraceContext {
  /** @default a random id */
  readonly runId?: string
}

/** What a run in process is given, so that it and its spans agree. */
export interface TracedRunOptions {
  readonly runId: string
  readonly traceparent: string
  readonly tracestate?: string
  readonly onEvent: (event: RunEvent) => void
}

/** What a run service is given, so that its runs and their spans agree. */
export interface TracedServiceOptions {
  readonly traceNewRun: (
    run: { readonly runId: string; readonly ensemble: string },
    asked: TraceContext,
  ) => TraceContext
  readonly onExecuted: (runId: string, events: readonly LoggedRunEvent[]) => void
  readonly onActivity: (activity: RunActivityLike) => void
}

/** Traces runs. */
export interface RunTracing {
  /**
   * Options for a run in process: `ensemble.run(inputs, { ...tracing.run() })`. Its spans are part of the trace that
   * `traceparent` names, or begin one.
   */
  run(options?: TraceRunOptions): TracedRunOptions
  /** Options for a run service, whose log `read` reads. */
  service(read: ReadEvents): TracedServiceOptions
  /** Resolves when every span that has ended is handed on and sent. */
  flush(): Promise<void>
  /** The same for the last time: nothing is sent afterwards. */
  shutdown(): Promise<void>
}

/** Makes spans of the events of runs and gives them to a span processor. It starts nothing and keeps no global state. */
export function traceRuns(options: TraceRunsOptions): RunTracing {
  const resolved = resolveTraceRunsOptions(options)
  const followed = new FollowedRuns(resolved)
  return {
    run({ runId = `run-${crypto.randomUUID()}`, ...asked } = {}) {
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

/** A sampler that throws costs the spans of the run, and not the run. */
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
