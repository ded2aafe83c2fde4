/** What is known of one task, and how its attempts follow each other. */
import type { FinishReason, TaskStatus } from '../schemas/enums.ts'
import type { MetricsSnapshot, TaskCompleted, TaskInput } from '../schemas/events/task-events.ts'
import type { AgentCallState } from './agent-calls.ts'
import type { TurnState } from './turn-state.ts'
import { NO_AGENT_USAGE, NO_ATTEMPT_USAGE, type AgentUsage, type AttemptUsage } from './usage.ts'

/** One task of a run: of the plan, or made by a delegation. */
export interface TaskState {
  /** Unique in its run. */
  readonly name: string
  /** Its number in its run, from 1. */
  readonly index: number
  readonly description: string
  readonly agentRole: string
  /** Names of the tasks whose output it waits for. */
  readonly context: readonly string[]
  /** FAILED also between two attempts; then `error.willRetry` is true. */
  readonly status: TaskStatus
  /** Which try this is; 0 before the first. The fields that follow are those of this attempt. */
  readonly attempt: number
  readonly startedAt?: string
  /** When the attempt ended, in whatever way. */
  readonly completedAt?: string
  readonly durationMs?: number
  readonly expectedOutput?: string
  /** What the agent was given. */
  readonly input?: TaskGiven
  readonly turns: readonly TurnState[]
  /** Tool calls that asked other agents, in the order in which they were sent. */
  readonly agentCalls: readonly AgentCallState[]
  /** What those agents have used; counted in `usage` too. */
  readonly agentUsage: AgentUsage
  readonly output?: string
  /** The output as a value, when the task declares an output schema. */
  readonly structuredOutput?: unknown
  /** Parts that a handler gave in place of the output, as `task_completed` has them. */
  readonly parts?: NonNullable<TaskCompleted['parts']>
  /** Finish reason of the last answer of the model; present at the end, unless no model ended the attempt. */
  readonly finishReason?: FinishReason
  readonly error?: TaskError
  readonly usage: AttemptUsage
  /** The newest `metrics_snapshot`. */
  readonly metrics?: TaskMetrics
  /** True when the agent was made to answer because its turns were used up; present at the end. */
  readonly iterationLimitReached?: boolean
  /** Why it will not run. */
  readonly skipReason?: string
  /** The attempts before this one, all of which failed. */
  readonly earlierAttempts: readonly EarlierAttempt[]
  /** The model that this task was switched to, if the run was not switched after that. */
  readonly model?: string
  /** Present on a task that a delegation made. */
  readonly delegatedBy?: { readonly taskName: string; readonly delegationId: string }
}

/** Why an attempt failed; `code` is one of `FAILURE_CODES`, as open text. */
export interface TaskError {
  readonly reason: string
  readonly code: string
  /** Another attempt follows by itself. */
  readonly willRetry: boolean
  /** Text of the provider about a refusal or a blocked answer. */
  readonly refusal?: string
}

/** An attempt that failed and was followed by another. */
export interface EarlierAttempt {
  readonly attempt: number
  readonly reason: string
  readonly code: string
  readonly usage: AttemptUsage
}

/** What an agent was given, as `task_input` says it. */
export type TaskGiven = Readonly<
  Pick<
    TaskInput,
    'agentGoal' | 'agentBackground' | 'toolNames' | 'assembledContext' | 'expectedOutput' | 'sentAt'
  >
>

/** Running totals of an attempt, as `metrics_snapshot` says them. */
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
  >
>

/** What a task is before anything is known of how it goes. */
export type TaskPlan = Pick<
  TaskState,
  'name' | 'index' | 'description' | 'agentRole' | 'context' | 'delegatedBy'
>

/** A task that waits for its first attempt. */
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
 * The task in this attempt: itself, or with a newer attempt begun and the one before put with the
 * earlier ones; undefined when the attempt is one of the past.
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
