/** Options of every tool call of a task, whether its model or its handler makes the call. */
import type { AgentTool, RunToolCallsOptions } from '@tutti/core'
import {
  spanTraceparent,
  toolCallSpanKey,
  type CallerRequest,
  type Remaining,
} from '@tutti/core/internal'

import {
  createAgentReporter,
  createFileReporter,
  createProgressReporter,
  createToolCalledEvent,
} from './tool-events.ts'
import { createToolReviewer } from './tool-reviewer.ts'

import type { CreateCallbackUrl } from '../definition/wait.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** Parts of a run that tool calls use. */
export interface RunTooling {
  readonly reviews: Reviews
  /** Tools that the client of the run executes. */
  readonly clientTools: readonly AgentTool[]
  /** Returns the W3C trace context of the request for the run. */
  readonly traceparent: () => string
  /** The request of the agent or MCP client that started the run. */
  readonly request: CallerRequest | undefined
  /** Creates callback URLs; undefined without a server. */
  readonly callbackUrl: CreateCallbackUrl | undefined
  /** Returns the options that are the same for all calls of the run. */
  readonly shared: () => SharedCallOptions
}

/** Options that are the same for all calls of a run. */
export type SharedCallOptions = Pick<
  RunToolCallsOptions,
  'approvalDefaults' | 'limiter' | 'maxConcurrentCalls' | 'metrics' | 'request' | 'tracestate'
>

/** Returns the options of the tool calls of one turn, to which the caller adds its own listeners and keys. */
export function createToolCallOptions(
  scope: TaskScope,
  { reviews, traceparent, shared }: RunTooling,
  iterationIndex: number,
): RunToolCallsOptions {
  const { run, identity, signal } = scope
  const reviewer = createToolReviewer(scope, reviews, iterationIndex)
  const options: RunToolCallsOptions = {
    ...shared(),
    signal,
    clock: run.clock,
    logger: run.logger,
    agentRole: identity.agentRole,
    taskName: identity.taskName,
    runId: run.runId,
    remaining: () => computeRemaining(scope),
    traceparent: (toolCallId) => {
      const origin = { ...identity, runId: run.runId, iterationIndex, toolCallId }
      return spanTraceparent(traceparent(), toolCallSpanKey(origin))
    },
    onAgentReport: createAgentReporter(scope, iterationIndex),
    onNestedOutcome: (call, outcome) => {
      scope.emit(createToolCalledEvent(scope, { iterationIndex, call, outcome }))
    },
    onProgress: createProgressReporter(scope, iterationIndex),
    onFileChange: createFileReporter(scope),
  }
  return reviewer === undefined ? options : { ...options, reviewer }
}

/** Returns the remaining budget of the task and the run, including the time limit of the task. */
function computeRemaining({ meter, task, stopwatch }: TaskScope): Remaining {
  const left = meter.remaining()
  const { timeoutMs = Infinity } = task
  return { ...left, timeMs: Math.min(left.timeMs, Math.max(0, timeoutMs - stopwatch.elapsed())) }
}
