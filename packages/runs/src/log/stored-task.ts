/** Pure: a task of a run as stores keep it, and as readers get it. */
import { addTokens, type TokenTotals } from '@tutti/protocol/basics'

import { field } from '../domain/field.ts'

import type { NewTask, TaskChangeFields } from '../domain/change.ts'
import type { TaskRecord } from '../domain/run-record.ts'

/** Usage of attempts; a null cost is unknown. */
export interface StoredUsage extends TokenTotals {
  readonly toolCallCount: number
  readonly costUsd: number | null
}

/** A task as its row, with separate usage of the current attempt and of earlier ones. */
export type StoredTask = NewTask &
  TaskChangeFields & {
    readonly earlierInputTokens: number
    readonly earlierOutputTokens: number
    readonly earlierToolCallCount: number
    readonly earlierCostUsd: number | null
  }

/** Returns a task without the separate usage of its attempts. */
export function toTaskRecord(stored: StoredTask): TaskRecord {
  const { costUsd, ...used } = sumTaskUsage(stored)
  const { startedAt, completedAt, durationMs, output, error, finishReason } = stored
  return {
    taskIndex: stored.taskIndex,
    name: stored.name,
    description: stored.description,
    agentRole: stored.agentRole,
    status: stored.status,
    attempt: stored.attempt,
    ...field('startedAt', startedAt ?? undefined),
    ...field('completedAt', completedAt ?? undefined),
    ...field('durationMs', durationMs ?? undefined),
    ...used,
    ...field('costUsd', costUsd ?? undefined),
    ...field('output', output ?? undefined),
    ...field('error', error ?? undefined),
    ...field('finishReason', finishReason ?? undefined),
  }
}

/** Returns the usage of all attempts of a task. An unknown value makes the sum unknown. */
export function sumTaskUsage(task: StoredTask): StoredUsage {
  const { costUsd, earlierCostUsd } = task
  const { earlierInputTokens: inputTokens, earlierOutputTokens: outputTokens } = task
  return {
    ...addTokens([{ inputTokens, outputTokens }, task]),
    toolCallCount: task.earlierToolCallCount + task.toolCallCount,
    costUsd: costUsd === null || earlierCostUsd === null ? null : costUsd + earlierCostUsd,
  }
}
