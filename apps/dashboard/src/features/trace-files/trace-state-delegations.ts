/** Pure: what a trace file tells of a delegation. */
import { msOf } from './trace-state-values.ts'

import type {
  AttemptUsage,
  DelegationState,
  TaskError,
  TaskState,
  TaskTrace,
} from '@tutti/protocol'

type DelegationTrace = TaskTrace['delegations'][number]

/** The delegation that made a task. */
export type DelegatedBy = NonNullable<TaskState['delegatedBy']>

/** Why something failed, when the file does not say it. */
export const NO_REASON: TaskError = {
  reason: 'The file does not say why',
  code: '',
  willRetry: false,
}

/** What the agents of other servers have used: a trace counts it with the task. */
export const NO_AGENTS: TaskState['agentUsage'] = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** What an attempt has used of which the file says nothing. */
const UNKNOWN_USAGE: AttemptUsage = { inputTokens: -1, outputTokens: -1, toolCallCount: 0 }

/** The task of a delegation of which the file has no trace. */
export function workerOf(
  handed: DelegationTrace,
  { name, delegatedBy, index }: { name: string; delegatedBy: DelegatedBy; index: number },
): TaskState {
  const { startedAt, completedAt, result, succeeded } = handed
  const durationMs = msOf(handed.duration)
  return {
    name,
    index,
    description: handed.taskDescription,
    agentRole: handed.workerRole,
    context: [],
    status: succeeded ? 'COMPLETED' : 'FAILED',
    attempt: 1,
    startedAt,
    completedAt,
    ...(durationMs === undefined ? {} : { durationMs }),
    turns: [],
    agentCalls: [],
    agentUsage: NO_AGENTS,
    ...(result === null ? {} : { output: result }),
    ...(succeeded ? {} : { error: NO_REASON }),
    usage: UNKNOWN_USAGE,
    earlierAttempts: [],
    delegatedBy,
  }
}

/** A delegation, of which the worker is the task `name`. */
export function delegationOf(
  handed: DelegationTrace,
  { name, ...by }: DelegatedBy & { readonly attempt: number; readonly name: string },
): DelegationState {
  const { delegatorRole, workerRole, taskDescription, startedAt, completedAt, depth } = handed
  const durationMs = msOf(handed.duration)
  return {
    ...by,
    delegatingAgentRole: delegatorRole,
    workerRole,
    status: handed.succeeded ? 'COMPLETED' : 'FAILED',
    taskDescription,
    workerTask: name,
    depth,
    startedAt,
    completedAt,
    ...(handed.succeeded && durationMs !== undefined ? { durationMs } : {}),
    ...(handed.succeeded ? {} : { reason: NO_REASON.reason }),
  }
}
