/** Options that every tool call of a task gets, whether its model or its handler makes it. */
import {
  spanTraceparent,
  toolCallSpanKey,
  type Remaining,
  type RunToolCallsOptions,
} from '@tutti/core'

import { agentReporter, toolCalledEvent, toolReports } from './tool-events.ts'
import { toolReviewer } from './tool-reviewer.ts'

import type { Reviews } from '../reviews/reviews.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** The parts of a run that tool calls use. */
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

/** Options to which a single call only adds its key and its outcome. */
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
    remaining: () => remainingBudget(scope),
    traceparent: (toolCallId) => {
      const place = { ...identity, runId: run.runId, iterationIndex, toolCallId }
      return spanTraceparent(traceparent(), toolCallSpanKey(place))
    },
    onAgentReport: agentReporter(scope, iterationIndex),
    onNestedOutcome: (call, outcome) => {
      scope.emit(toolCalledEvent(scope, { iterationIndex, call, outcome }))
    },
  }
  const reviewer = toolReviewer(scope, reviews, iterationIndex)
  if (reviewer !== undefined) options.reviewer = reviewer
  return Object.assign(options, shared, toolReports(scope, iterationIndex))
}

/** Returns what the task and the run may still use. */
function remainingBudget({ meter, task, stopwatch }: TaskScope): Remaining {
  const left = meter.remaining()
  const { timeoutMs = Infinity } = task
  return { ...left, timeMs: Math.min(left.timeMs, Math.max(0, timeoutMs - stopwatch.elapsed())) }
}
