/** What the parts of a running task share: who it is, and the ports it works through. */
import type { ToolSpecification } from './model/chat-model.ts'
import type { Task } from './task.ts'
import type { Clock, Logger, RunToolCallsOptions } from '@tutti/core'
import type { RunEvent } from '@tutti/protocol'

/** How the events of a task name it. */
export interface TaskIdentity {
  /** From 1, unique within the run. */
  readonly taskIndex: number
  readonly taskName: string
  readonly taskDescription: string
  readonly agentRole: string
  /** From 1; a later attempt replaces what the earlier ones streamed. */
  readonly attempt: number
}

/** What all tool calls of a run share: whom to ask, where to count, how many at the same time. */
export type Tooling = Pick<
  RunToolCallsOptions,
  'reviewer' | 'metrics' | 'limiter' | 'maxConcurrentCalls'
>

/** Surroundings of one running task. */
export interface TaskScope {
  readonly runId: string
  readonly task: Task
  readonly identity: TaskIdentity
  readonly toolSpecifications: readonly ToolSpecification[]
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
  /** What all tool calls of the run share. */
  readonly tooling: Tooling
  /** Longest tool output the model is given, in characters; negative is no limit. */
  readonly maxToolOutputLength: number
  emit(event: RunEvent): void
}
