/** Options of every tool call of a task, whether its model or its handler makes the call. */
import {
  spanTraceparent,
  toolCallSpanKey,
  type Remaining,
  type RunToolCallsOptions,
} from '@tutti/core'

import { createAgentReporter, createToolCalledEvent, createToolReports } from './tool-events.ts'
import { createToolReviewer } from './tool-reviewer.ts'

import type { Reviews } from '../reviews/reviews.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** Parts of a run that tool calls use. */
export interface RunTooling {
  readonly reviews: Reviews
  /** Returns the W3C trace context of the request for the run. */
  readonly traceparent: () => string
  /** Options that are the same for all calls of the run. */
  readonly shared: Pick<
    RunToolCallsOptions,
    'approvalDefaults' | 'limiter' | 'maxConcurrentCalls' | 'metrics' | 'request' | 'tracestate'
  >
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Options of a tool call without its idempotency key and its outcome callback. */
export type ToolCallOptions = Writable<Omit<RunToolCallsOptions, 'idempotencyPrefix' | 'onOutcome'>>

/** Returns the options of the tool calls of one turn. */
export function createToolCallOptions(
  scope: TaskScope,
  { reviews, traceparent, shared }: RunTooling,
  iterationIndex: number,
): ToolCallOptions {
  const { run, identity, signal } = scope
  const options: ToolCallOptions = {
    signal,
    clock: run.clock,
    logger: run.logger,
    agentRole: identity.agentRole,
    taskName: identity.taskName,
    runId: run.runId,
    remaining: () => computeRemaining(scope),
    traceparent: (toolCallId) => {
      const place = { ...identity, runId: run.runId, iterationIndex, toolCallId }
      return spanTraceparent(traceparent(), toolCallSpanKey(place))
    },
    onAgentReport: createAgentReporter(scope, iterationIndex),
    onNestedOutcome: (call, outcome) => {
      scope.emit(createToolCalledEvent(scope, { iterationIndex, call, outcome }))
    },
  }
  const reviewer = createToolReviewer(scope, reviews, iterationIndex)
  if (reviewer !== undefined) options.reviewer = reviewer
  return Object.assign(options, shared, createToolReports(scope, iterationIndex))
}

/** Returns the remaining budget of the task and the run, including the time limit of the task. */
function computeRemaining({ meter, task, stopwatch }: TaskScope): Remaining {
  const left = meter.remaining()
  const { timeoutMs = Infinity } = task
  return { ...left, timeMs: Math.min(left.timeMs, Math.max(0, timeoutMs - stopwatch.elapsed())) }
}
