/** What every tool call of a task is given, whoever asks for it: its model, or its handler. */
import { spanTraceparent, toolCallSpanKey, type RunToolCallsOptions } from '@tutti/core'

import { agentReporter, toolCalledEvent, toolReports } from './tool-events.ts'
import { toolReviewer } from './tool-reviewer.ts'

import type { TaskScope } from '../scope/task-scope.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Surroundings that no single call needs to add to, but for its key and its outcome. */
export type ToolSurroundings = Writable<
  Omit<RunToolCallsOptions, 'idempotencyPrefix' | 'onOutcome'>
>

/** The surroundings of the tool calls of one turn. */
export function toolSurroundings(scope: TaskScope, iterationIndex: number): ToolSurroundings {
  const { run, identity, signal } = scope
  const surroundings: ToolSurroundings = {
    signal,
    clock: run.clock,
    logger: run.logger,
    agentRole: identity.agentRole,
    taskName: identity.taskName,
    runId: run.runId,
    remaining: () => scope.remaining(),
    traceparent: (toolCallId) => {
      const place = { ...identity, runId: run.runId, iterationIndex, toolCallId }
      return spanTraceparent(run.traceparent(), toolCallSpanKey(place))
    },
    onAgentReport: agentReporter(scope, iterationIndex),
    onNestedOutcome: (call, outcome) => {
      scope.emit(toolCalledEvent(scope, { iterationIndex, call, outcome }))
    },
  }
  if (run.tracestate !== undefined) surroundings.tracestate = run.tracestate
  if (run.request !== undefined) surroundings.request = run.request
  const reviewer = toolReviewer(scope, iterationIndex)
  if (reviewer !== undefined) surroundings.reviewer = reviewer
  const { review } = run.ensemble
  if (review !== undefined) surroundings.approvalDefaults = review
  return Object.assign(surroundings, run.tooling, toolReports(scope, iterationIndex))
}
