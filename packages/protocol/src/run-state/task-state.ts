/** State of one task and its attempts. */
import type { FinishReason, TaskStatus } from '../schemas/enums.ts'
import type { MetricsSnapshot, TaskCompleted, TaskInput } from '../schemas/events/task-events.ts'
import type { AgentCallState } from './agent-calls.ts'
import { findIndexByKey } from './lists.ts'
import type { TurnState } from './turn-state.ts'
import { NO_AGENT_USAGE, NO_ATTEMPT_USAGE, type AgentUsage, type AttemptUsage } from './usage.ts'

/** Task of a run, from the plan or a delegation. */
export interface TaskState {
  /** Name of the task; unique in its run. */
  readonly name: string
  /** Number of the task in its run, from 1. */
  readonly index: number
  readonly description: string
  readonly agentRole: string
  /** Names of the tasks whose output it waits for. */
  readonly context: readonly string[]
  /** FAILED also between two attempts; then `error.willRetry` is true. */
  readonly status: TaskStatus
  /** Attempt of the task, from 1; 0 before the first. The following fields are those of this attempt. */
  readonly attempt: number
  readonly startedAt?: string
  /** Time at which the attempt ended with any outcome. */
  readonly completedAt?: string
  readonly durationMs?: number
  readonly expectedOutput?: string
  /** Input of the agent. */
  readonly input?: TaskGiven
  readonly turns: readonly TurnState[]
  /** Tool calls that called other agents, in the order in which they were sent. */
  readonly agentCalls: readonly AgentCallState[]
  /** Usage of those agents; also included in `usage`. */
  readonly agentUsage: AgentUsage
  readonly output?: string
  /** Output as a JSON value; present when the task declares an output schema. */
  readonly structuredOutput?: unknown
  /** Parts that a handler returned instead of the output, as in `task_completed`. */
  readonly parts?: NonNullable<TaskCompleted['parts']>
  /** Reason why the last answer of the model ended; present at the end, unless no model ended the attempt. */
  readonly finishReason?: FinishReason
  /** Present if the request of a fork gave the output, so no agent was called. */
  readonly outputGiven?: true
  readonly error?: TaskError
  readonly usage: AttemptUsage
  /** Latest `metrics_snapshot`. */
  readonly metrics?: TaskMetrics
  /** Whether the agent had to answer because its turns were used up; present at the end. */
  readonly iterationLimitReached?: boolean
  /** Reason why the task will not run. */
  readonly skipReason?: string
  /** Earlier, failed attempts. */
  readonly earlierAttempts: readonly EarlierAttempt[]
  /** Model that this task was switched to; absent if the run was switched later. */
  readonly model?: string
  /** Role of the agent that continued the attempt after its last handoff; absent without one. */
  readonly activeAgent?: string
  /** Name of the task of that agent, which has the conversation. */
  readonly activeTask?: string
  /** Present on a task that a delegation added. */
  readonly delegatedBy?: { readonly taskName: string; readonly delegationId: string }
}

/** Failure of an attempt; `code` is a failure code, as open text. */
export interface TaskError {
  readonly reason: string
  readonly code: string
  /** Whether another attempt follows automatically. */
  readonly willRetry: boolean
  /** Text of the provider about a refusal or a blocked answer. */
  readonly refusal?: string
}

/** Failed attempt that was followed by another. */
export interface EarlierAttempt {
  readonly attempt: number
  readonly reason: string
  readonly code: string
  readonly usage: AttemptUsage
}

/** Input of an agent, as in `task_input`. */
export type TaskGiven = Readonly<
  Pick<
    TaskInput,
    'agentGoal' | 'agentBackground' | 'toolNames' | 'assembledContext' | 'expectedOutput' | 'sentAt'
  >
>

/** Running totals of an attempt, as in `metrics_snapshot`. */
export type TaskMetrics = Readonly<
  Pick<
    MetricsSnapshot,
    | 'inputTokens'
    | 'outputTokens'
    | 'llmLatencyMs'
    | 'toolExecutionTimeMs'
    | 'iterationCount'
    | 'costEstimate'
    | 'cachedInputTokens'
    | 'reasoningTokens'
  >
>

/** Fields of a task that are known before it runs. */
export type TaskPlan = Pick<
  TaskState,
  'name' | 'index' | 'description' | 'agentRole' | 'context' | 'delegatedBy'
>

/** Returns the index of the task with a name, -1 if there is none. */
export function findTaskIndex(tasks: readonly TaskState[], name: string): number {
  return findIndexByKey(tasks, name, (task) => task.name)
}

/** Returns the task with a name; undefined if there is none. */
export function findTask(tasks: readonly TaskState[], name: string): TaskState | undefined {
  return tasks[findTaskIndex(tasks, name)]
}

/** Returns a task that waits for its first attempt. */
export function createTask(plan: TaskPlan): TaskState {
  return {
    ...plan,
    status: 'PENDING',
    attempt: 0,
    turns: [],
    agentCalls: [],
    agentUsage: NO_AGENT_USAGE,
    usage: NO_ATTEMPT_USAGE,
    earlierAttempts: [],
  }
}

/**
 * Returns the task in this attempt: itself, or with a newer attempt begun and the previous one added to the earlier
 * ones; undefined when the attempt is in the past.
 */
export function enterAttempt(task: TaskState, attempt: number): TaskState | undefined {
  if (attempt === task.attempt) return task
  if (attempt < task.attempt) return undefined
  const { name, index, description, agentRole, context, delegatedBy, model } = task
  return {
    ...createTask({ name, index, description, agentRole, context }),
    attempt,
    earlierAttempts: listAttempts(task),
    ...(delegatedBy === undefined ? {} : { delegatedBy }),
    ...(model === undefined ? {} : { model }),
  }
}

function listAttempts({
  attempt,
  error,
  usage,
  earlierAttempts,
}: TaskState): readonly EarlierAttempt[] {
  if (error === undefined) return earlierAttempts
  return [...earlierAttempts, { attempt, reason: error.reason, code: error.code, usage }]
}
